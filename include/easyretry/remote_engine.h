#pragma once
// An engine whose tasks are kept by a daemon, `easyretry serve`, instead of a database: functions are registered,
// called, retried and run here as with any Engine (docs/remote.md).
//
//   RemoteEngine engine{"http://127.0.0.1:7077", {.token_file = "easyretry.token"}};
//   RemoteEngine far{"https://retry.example:7077", {.token_file = "easyretry.token", .ca_file = "ca.pem"}};
//   auto pay = engine.retryable("payment.pay", …);

#include <filesystem>
#include <string>
#include <string_view>

#include <easyretry/engine.h>

namespace easyretry {

struct RemoteOptions {
  // Of the role `application`: in a file that begins with it, or as it is. `easyretry token create` makes it.
  std::filesystem::path token_file{};
  std::string token{};
  std::string ca_file{};  // PEM, of whoever vouches for the daemon's certificate; empty: the system's
  // What concerns running and calling counts; how a store is read, window, poll, grace, read_ahead and membership, is
  // the daemon's own affair. `space` is a namespace of the daemon's.
  EngineOptions engine{};
};

class RemoteEngine : public Engine {
 public:
  // Does not ask the daemon for anything yet: an application comes up without it. Throws std::invalid_argument for an
  // address that is none, one to which the token would travel in the open, and a token or a CA that cannot be read.
  explicit RemoteEngine(std::string_view daemon, const RemoteOptions& options = {});
};

}  // namespace easyretry
