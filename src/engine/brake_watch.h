#pragma once
// Exchanges the announcements of brakes (brake.h) with the other instances of a store.
//
// As with circuits, an instance says them when it beats, as a member of a namespace of its own: `limits`, a separator,
// and the engine's namespace. An instance whose brakes have met nothing for a while says and asks nothing.
//
// An announcement that was sent and not answered may still be stored later, in place of a newer one. So after a failure
// the next ones are made under another name; the old one counts for the others until it expires or is taken back.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/brake.h"
#include "engine/handlers.h"
#include "engine/store_time.h"
#include "engine/wakeup.h"

namespace easyretry::storage {
struct BeatReply;
}

namespace easyretry::engine {

struct Context;

// By the hash of what the brake is about: names may have any characters.
using BrakeReports = std::map<std::uint64_t, BrakeReport>;
std::uint64_t brake_hash(std::string_view subject);
std::string brake_text(const BrakeReports& reports, const StoreTime& time);  // times are the store's
BrakeReports parse_brakes(std::string_view text, const StoreTime& time);     // those that cannot be read are left out

class BrakeWatch {
 public:
  explicit BrakeWatch(Context& context) : context_(context) {}

  Step step();
  // Nothing runs here any more: seats are free for others at once.
  void leave();

 private:
  bool exchange(const HandlerTable& table, Instant now);
  void take_back(const std::set<std::string>& all_but);
  void hear(const HandlerTable& table, const Brake::Heard& when, const storage::BeatReply& reply);
  Brake::Times times(Instant now) const;
  std::string space() const;
  std::string node(std::size_t row) const;
  std::size_t row_of(const std::string& subject);

  Context& context_;
  // The watching thread's own
  Instant next_ = Instant::min();
  Instant asked_ = Instant::min();
  std::map<std::string, std::size_t> places_;  // of each brake in the rows; it stays, so that it is never in none
  std::map<std::string, Instant> told_;        // under these names something was said, at this time at last
  std::uint64_t generation_ = 0;
  bool answered_ = false;  // the last exchange
};

}  // namespace easyretry::engine
