#pragma once
// Exchanges the announcements of brakes (brake.h) with the other instances of a store.
//
// As with circuits, an instance sends them with a heartbeat, as a member of a separate namespace: `limits`, a
// separator, and the engine's namespace. An instance whose brakes have had no work for a while neither sends nor asks.
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

// Keyed by the hash of the brake's subject, because names may have any characters.
using BrakeReports = std::map<std::uint64_t, BrakeReport>;
std::uint64_t brake_hash(std::string_view subject);
std::string brake_text(const BrakeReports& reports, const StoreTime& time);  // times are the store's
BrakeReports parse_brakes(std::string_view text, const StoreTime& time);     // leaves out unreadable ones

class BrakeWatch {
 public:
  explicit BrakeWatch(Context& context) : context_(context) {}

  Step step();
  // Nothing runs here any more: frees the seats for other instances at once.
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
  // Used only by the watching thread
  Instant next_ = Instant::min();
  Instant asked_ = Instant::min();
  std::map<std::string, std::size_t> places_;  // of each brake in the rows; it stays, so no brake is ever missing
  std::map<std::string, Instant> told_;        // the names it has announced under, and when it last did so
  std::uint64_t generation_ = 0;
  bool answered_ = false;  // the last exchange
};

}  // namespace easyretry::engine
