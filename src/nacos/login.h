#pragma once
// Login, and HTTP requests that use it.

#include <atomic>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "nacos/http_api.h"
#include "nacos/options.h"

namespace easyretry::nacos {

// The token that authenticates this client, and its renewal before it expires. Thread-safe.
class Login {
 public:
  // Both must outlive it.
  Login(const ClientOptions& options, base::Random& random) : options_(options), random_(random) {}

  std::string token() const;  // empty: no token

  // When to renew it; never without credentials.
  Instant due() const;
  // Does nothing if it is not due.
  Result<void> renew(const ServerAddress& server, const std::stop_token& stop);

  // Call it when a server has refused this token. Returns true if there is a new one: try again. Logs in itself, but
  // not more often than timings.relogin, because the refusal may be due to missing rights. Fails if the last login
  // failed.
  Result<bool> replace(const std::string& refused, const ServerAddress& server, const std::stop_token& stop);

 private:
  Result<void> log_in(const ServerAddress& server, const std::stop_token& stop);

  // Fixed after construction
  const ClientOptions& options_;
  base::Random& random_;

  std::mutex renewing_;                  // one login at a time; taken before mutex_
  std::optional<Instant> last_attempt_;  // guarded by renewing_
  std::optional<Error> last_failure_;    // guarded by renewing_; nullopt after a successful login
  int slow_ = 0;                         // guarded by renewing_; consecutive attempts that timed out

  mutable std::mutex mutex_;
  // Guarded by mutex_
  std::string token_;
  Instant due_ = Instant::min();
};

// Sends HTTP requests with the token of the login. Thread-safe.
class HttpClient {
 public:
  // The options must outlive it. A stop cancels the current request.
  HttpClient(const ClientOptions& options, std::stop_token stop) : options_(options), stop_(std::move(stop)) {}

  Result<void> log_in_if_due(const ServerAddress& server);
  // Returns the body of a successful answer.
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
