#pragma once
// The token that proves who we are, and its renewal before it runs out. Safe to use from any thread.

#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include <easyretry/error.h>

#include "base/random.h"
#include "nacos/options.h"

namespace easyretry::nacos {

class Login {
 public:
  // Both outlive it.
  Login(const ClientOptions& options, base::Random& random) : options_(options), random_(random) {}

  std::string token() const;  // empty: none

  // When to renew; never, without credentials.
  Instant due() const;
  // If it is due.
  Result<void> renew(const ServerAddress& server, const std::stop_token& stop);

  // A server has refused this token. True: there is another, try again. Logs in itself, but not more often than
  // timings.relogin, because the rights may be what is missing. Fails as the last login did.
  Result<bool> replace(const std::string& refused, const ServerAddress& server, const std::stop_token& stop);

 private:
  Result<void> log_in(const ServerAddress& server, const std::stop_token& stop);

  // Fixed after construction
  const ClientOptions& options_;
  base::Random& random_;

  std::mutex renewing_;                  // one login at a time; taken before mutex_
  std::optional<Instant> last_attempt_;  // guarded by renewing_
  std::optional<Error> last_failure_;    // guarded by renewing_; none once a login has worked
  int slow_ = 0;                         // guarded by renewing_: attempts in a row that got no answer in time

  mutable std::mutex mutex_;
  // Guarded by mutex_
  std::string token_;
  Instant due_ = Instant::min();
};

}  // namespace easyretry::nacos
