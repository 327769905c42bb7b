#pragma once
// What has one hash tag: all of a store on one server, and one of several equal parts of it in a cluster. A part is
// whole in itself: its tasks with their keys and their history, the numbers of names, an incarnation, and the clock of
// the server it is on. Throws server::ServerError, a LostReply where a write may have been done. Safe to use from any
// thread.

#include <atomic>
#include <functional>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/time.h>

#include "storage/redis/keys.h"
#include "storage/redis/link.h"
#include "storage/redis/names.h"

namespace easyretry::storage::redis {

// A script with what it needs. KEYS[1], ARGV[1] and ARGV[2] are given by Part::script().
struct ScriptCall {
  const Script& script;
  std::vector<std::string> keys{};
  std::vector<std::string> arguments{};
  bool (*wrote)(const Reply&) = nullptr;  // whether there is anything for replicas to confirm; null: always
  std::int64_t made_at = 0;               // by our steady clock, in microseconds
};

struct PartOptions {
  std::string tag;
  Confirmation confirmation{};
  const Clock* clock = nullptr;  // null: the server's own. For tests
  // What must hold of a part before it is used; gives its incarnation. Called again where another one has taken its
  // place.
  std::function<std::string(const Keys&, const Ask&)> open;
};

class Part {
 public:
  Part(Link& link, PartOptions options);

  const Keys& keys() const { return keys_; }
  const Confirmation& confirmation() const { return options_.confirmation; }
  // Opens the part where that was not done yet.
  void open();
  ScriptCall script(const Script& script);
  // The key count must live as long as the request.
  Request request(const ScriptCall& call, const std::string& key_count) const;
  Request request(const Command& command) const { return {.slot = slot_, .command = command}; }
  // What a script has answered. Learns the time from it; but for a clock that was set back, what is taken for the time
  // never goes back: by it the engine tells tasks that it stored from earlier ones of the same key.
  Reply accept(const ScriptCall& call, Answer answer);

  Reply read(const ScriptCall& call);  // tried again where a connection breaks
  Reply read(const Command& command);
  // On connections of their own: must not wait behind the work.
  Reply write_soon(const ScriptCall& call);

  TimePoint now();                  // asks for it
  TimePoint estimated_now() const;  // by the replies that told it: never ahead, if the clock was not set
  bool knows_time() const;

  // Throws ServerError where there are too many.
  unsigned number_of(NameKind kind, std::string_view text);
  // 0 where there are so many that it is not worth one.
  unsigned number_if_few(NameKind kind, std::string_view text);
  std::string name_of(unsigned number);  // asks the server for one that is not known; "" where it does not know, either
  std::vector<Name> spaces();            // all that there are
  std::vector<Name> used_spaces() const;  // those that this process works with
  void uses(unsigned space);
  void uses(std::string_view space);  // if anybody has stored something there

 private:
  Reply run(const ScriptCall& call, const Confirmation& confirmation);
  std::string opened_now();
  void heard(TimePoint time, std::int64_t asked_at);
  [[noreturn]] void reopen();
  unsigned ask_for_number(NameKind kind, std::string_view text, unsigned most);
  void learn_names();
  std::string incarnation() const;

  Link& link_;
  const PartOptions options_;
  const Keys keys_;
  const Slot slot_;
  Names names_;
  std::atomic<std::int64_t> offset_micros_ = std::numeric_limits<std::int64_t>::min();  // from our steady clock

  std::mutex opening_;
  mutable std::mutex mutex_;  // guards what follows
  std::string incarnation_;   // empty: not open yet
  std::set<unsigned> used_;
};

}  // namespace easyretry::storage::redis
