#pragma once
// A Redis server that a store is in: connections, scripts, its clock, and the names it has given numbers. Throws
// sql::ServerError, a LostReply where a write may have been done. Safe to use from any thread.

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/time.h>

#include "storage/connection_pool.h"
#include "storage/redis/connection.h"
#include "storage/redis/keys.h"
#include "storage/redis/names.h"

namespace easyretry::storage::redis {

// A script with what it needs. KEYS[1], ARGV[1] and ARGV[2] are given by Server::script().
struct ScriptCall {
  const Script& script;
  std::vector<std::string> keys{};
  std::vector<std::string> arguments{};
  bool (*wrote)(const Reply&) = nullptr;  // whether there is anything for replicas to confirm; null: always
};

struct ServerOptions {
  Address address;
  std::string prefix;
  std::size_t connections = 4;
  Confirmation confirmation{};
  const Clock* clock = nullptr;  // null: the server's own. For tests
  // What must hold of a store before it is used; gives its incarnation. Called again where another one has taken its
  // place.
  std::function<std::string(Connection&)> open;
};

class Server {
 public:
  explicit Server(ServerOptions options);

  const Keys& keys() const { return keys_; }
  ScriptCall script(const Script& script) const;

  Reply write(const ScriptCall& call);
  Reply read(const ScriptCall& call);  // tried again where a connection breaks
  Reply read(const Command& command);
  // On connections of their own: must not wait behind the work.
  Reply write_soon(const ScriptCall& call);

  TimePoint now();                 // asks for it
  TimePoint estimated_now();       // by the replies that told it: never ahead, if the clock was not set
  void set_clock(TimePoint time);  // it was

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
  using Pool = ConnectionPool<Connection>;

  Reply run(Pool& pool, const ScriptCall& call, const Confirmation& confirmation);
  void heard(TimePoint time);
  void reopen(Connection& connection);
  unsigned ask_for_number(NameKind kind, std::string_view text, unsigned most);
  void learn_names();
  std::string incarnation() const;

  const ServerOptions options_;
  const Keys keys_;
  Pool work_;
  Pool control_;
  Names names_;
  std::atomic<std::int64_t> offset_micros_ = std::numeric_limits<std::int64_t>::min();  // from our steady clock

  mutable std::mutex mutex_;  // guards what follows
  std::string incarnation_;
  std::set<unsigned> used_;
};

}  // namespace easyretry::storage::redis
