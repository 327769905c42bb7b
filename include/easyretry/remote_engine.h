#pragma once
// An engine that stores its tasks in a daemon, `easyretry serve`, instead of a database. Functions are registered,
// called, retried and run in this process, as with any Engine (docs/remote.md).
//
//   RemoteEngine engine{"http://127.0.0.1:7077", {.token_file = "easyretry.token"}};
//   RemoteEngine far{"https://retry.example:7077", {.token_file = "easyretry.token", .ca_file = "ca.pem"}};
//   auto pay = engine.retryable("payment.pay", …);

#include <string>
#include <string_view>

#include <easyretry/engine.h>

#pragma GCC visibility push(default)
namespace easyretry {

struct RemoteOptions {
  // A token with the role `application`, created by `easyretry token create`: either a file that begins with it, or the
  // token itself.
  std::string token_file{};
  std::string token{};
  std::string ca_file{};  // PEM: certificate authorities for the daemon's certificate; empty: the system's
  // Settings for running and calling handlers apply. Settings for reading a store (window, poll, grace, read_ahead,
  // membership) are ignored: the daemon has its own. `name_space` is a namespace of the daemon.
  EngineOptions engine{};
};

class RemoteEngine : public Engine {
 public:
  // Does not contact the daemon yet, so an application can start without it. Throws std::invalid_argument if the
  // address is invalid or would send the token unencrypted, or if the token or the CA file cannot be read.
  explicit RemoteEngine(std::string_view daemon, const RemoteOptions& options = {});
};

}  // namespace easyretry
#pragma GCC visibility pop
