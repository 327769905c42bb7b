#pragma once
// Asks servers by HTTP, logged in. Safe to use from any thread.

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/random.h"
#include "nacos/http_dialect.h"
#include "nacos/login.h"

namespace easyretry::nacos {

class HttpCaller {
 public:
  // The options outlive it. A stop cuts short whatever is being asked.
  HttpCaller(const ClientOptions& options, std::stop_token stop) : options_(options), stop_(std::move(stop)) {}

  Result<void> log_in_if_due(const ServerAddress& server);
  // The body of an answer that is ok.
  Result<std::string> ask(const ServerAddress& server, const HttpCall& call);
  Result<std::vector<Instance>> list(const ServerAddress& server, HttpDialect dialect, const ServiceName& service,
                                     const std::string& cluster);

  std::optional<Instant> last_heard() const;

 private:
  // Fixed after construction
  const ClientOptions& options_;
  const std::stop_token stop_;

  base::Random random_{base::random_seed()};
  Login login_{options_, random_};
  std::atomic<Instant> last_heard_{Instant{}};
};

}  // namespace easyretry::nacos
