#pragma once
// A daemon's API (docs/api.md), with its refusals as errors named by what the caller does next. Thread-safe: as many
// connections as there are requests at a time, kept for the next ones.

#include <memory>
#include <mutex>
#include <vector>

#include <easyretry/error.h>
#include <easyretry/json_text.h>

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

 private:
  tl::expected<HttpReply, NoAnswer> send(const HttpRequest& request);
  Error silence(std::string_view where, const HttpRequest& request, const NoAnswer& none) const;
  Error refusal(std::string_view where, const HttpReply& reply) const;
  Error stranger(std::string_view where, int status) const;

  const DaemonAddress address_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Line>> free_;  // guarded by mutex_
};

// %20 for a space: what may stand in a query.
std::string percent_encoded(std::string_view text);

}  // namespace easyretry::remote
