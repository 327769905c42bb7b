#pragma once
// A daemon's API (docs/api.md), with its refusals as errors named by what the caller does next. Thread-safe: as many
// connections as there are requests at a time, kept for the next ones.

#include <memory>
#include <mutex>
#include <vector>

#include <easyretry/error.h>
#include <easyretry/json_text.h>

#include "base/random.h"
#include "remote/line.h"

namespace easyretry::remote {

struct ApiAnswer {
  TimePoint now{};  // the store's
  JsonDocument json;
};

class DaemonApi {
 public:
  explicit DaemonApi(DaemonAddress address) : address_(checked(std::move(address))) {}

  const std::string& url() const { return address_.url; }

  // `not_found` and `conflict` are 404 and 409, `already_exists` a key that is taken. `where` is for the error.
  Result<ApiAnswer> ask(std::string_view where, const HttpRequest& request);
  // The same under a name of its own, by which the daemon knows it again: where no answer comes it is asked for a few
  // more times. Then `in_doubt`; and also instead of `already_exists` where it may be the first one that was done.
  Result<ApiAnswer> ask_once(std::string_view where, HttpRequest request);

 private:
  using Sent = tl::expected<HttpReply, NoAnswer>;
  Sent send(const HttpRequest& request);
  Result<ApiAnswer> read(std::string_view where, const HttpRequest& request, const Sent& sent) const;
  Error silence(std::string_view where, const HttpRequest& request, const NoAnswer& none) const;
  Error refusal(std::string_view where, const HttpReply& reply) const;
  Error stranger(std::string_view where, int status) const;

  const DaemonAddress address_;
  base::Random names_{base::random_seed()};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Line>> free_;  // guarded by mutex_
};

// %20 for a space: what may stand in a query.
std::string percent_encoded(std::string_view text);

}  // namespace easyretry::remote
