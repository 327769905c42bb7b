#pragma once
// One connection to a daemon, kept open between requests. For one thread at a time.
//
// Follows no redirection: the token is for this server. Where the way is not encrypted, no proxy gets to see it.

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include <easyretry/time.h>

#include "http/client.h"
#include "remote/daemon_address.h"

namespace easyretry::remote {

struct HttpRequest {
  enum class Method { get, post, patch };
  Method method = Method::get;
  std::string target{};                // "/v1/tasks?limit=10", encoded
  std::string body{};                  // JSON
  Millis within{60'000};               // for the whole answer
  std::stop_token stop{};              // ends it, a moment after it was asked to: an answer on its way still arrives
  std::vector<std::string> headers{};  // "Last-Event-ID: 17"
  // Given: an answer of 200 goes there as it comes, for as long as it comes, and not into HttpReply::body. Instead of
  // `within` it is lost when nothing was heard for a minute.
  std::function<void(std::string_view bytes)> stream{};

  bool changes() const { return method != Method::get; }
};

struct HttpReply {
  int status = 0;
  std::string body{};
  std::optional<TimePoint> time{};    // the store's, when it was answered
  std::optional<Millis> remembers{};  // how far back the daemon knows what was sent with an Idempotency-Key
};

using http::NoAnswer;

class Line {
 public:
  explicit Line(const DaemonAddress& address) : address_(address) {}

  tl::expected<HttpReply, NoAnswer> ask(const HttpRequest& request);

 private:
  const DaemonAddress& address_;
  http::Client client_;
};

}  // namespace easyretry::remote
