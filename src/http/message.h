#pragma once
// What came and what goes back, without a word of how it travels.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/body_stream.h"
#include "http/target.h"

namespace easyretry::http {

enum class Method { get, head, post, put, patch, del, other };

struct Request {
  std::string id;  // ours, or X-Request-Id where that is harmless: to be said in answers and logs
  Method method = Method::other;
  Target target;
  std::map<std::string, std::string> headers;     // by lower-case name
  std::map<std::string, std::string> parameters;  // of the route: {id}
  std::string body;
  std::string peer;  // address of whoever asks
  // For an answer that takes its time: calls `gone`, at most once and on the server's thread, when whoever asks has
  // closed the connection before there was one. Whoever uses TLS is not always seen to leave.
  std::function<void(std::function<void()> gone)> when_gone = [](const auto&) {};

  std::optional<std::string_view> header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::nullopt : std::optional<std::string_view>{found->second};
  }
};

struct Response {
  int status = 200;
  std::string body{};
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers{};
  std::shared_ptr<BodyStream> stream{};  // instead of a body: what is written to it as time goes by
  // Called once, on the server's thread: true when all of it was handed to the network, false when the connection was
  // lost before.
  std::function<void(bool written)> sent = [](bool) {};
};

// May be called from any thread, once; what is never answered is answered with 500 when the last copy goes.
using Respond = std::function<void(Response)>;
// Called on the server's own thread: must not wait for anything.
using Serve = std::function<void(Request, Respond)>;

std::string_view to_string(Method method);

}  // namespace easyretry::http
