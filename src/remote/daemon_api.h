#pragma once
// A daemon's API (docs/api.md). Refusals become errors named by what the caller does next. Thread-safe: each concurrent
// request has a connection, which is kept for later requests.

#include <memory>
#include <mutex>
#include <vector>

#include <easyretry/detail/json_text.h>

#include "base/pause_clock.h"
#include "base/random.h"
#include "base/result.h"
#include "remote/connection.h"

namespace easyretry::remote {

struct ApiAnswer {
  TimePoint now{};  // the store's time
  JsonDocument json;
};

class DaemonApi {
 public:
  explicit DaemonApi(DaemonAddress address, const base::PauseClock& clock = base::system_pauses())
      : address_(checked(std::move(address))), clock_(clock) {}

  const std::string& url() const { return address_.url; }

  // `not_found` and `conflict` are 404 and 409; `already_exists` means that the key is taken. `where` goes into errors.
  Result<ApiAnswer> ask(std::string_view where, const HttpRequest& request);
  // Sends the request with an Idempotency-Key, by which the daemon recognizes a repetition. If no response comes, it is
  // sent again after 10, 100 and 1000 ms, but not after `within`; then the error is `in_doubt`. `in_doubt` also
  // replaces `already_exists` if the task that was found may be the one that the first request stored.
  Result<ApiAnswer> ask_once(std::string_view where, HttpRequest request);

 private:
  using Sent = tl::expected<HttpReply, NoAnswer>;
  Sent send(const HttpRequest& request);
  Result<ApiAnswer> read(std::string_view where, const HttpRequest& request, const Sent& sent) const;
  Error no_answer(std::string_view where, const HttpRequest& request, const NoAnswer& none) const;
  Error refusal(std::string_view where, const HttpReply& reply) const;
  Error not_a_daemon(std::string_view where, int status) const;

  const DaemonAddress address_;
  const base::PauseClock& clock_;
  base::Random names_{base::random_seed()};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> free_;  // guarded by mutex_
};

// For a path or a query: a blank becomes %20.
std::string percent_encoded(std::string_view text);

}  // namespace easyretry::remote
