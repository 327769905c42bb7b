#pragma once
// Requests and responses, independent of the transport.

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
  std::string id;  // for responses and logs: X-Request-Id if it is harmless, otherwise generated
  Method method = Method::other;
  Target target;
  std::map<std::string, std::string> headers;     // by lower-case name
  std::map<std::string, std::string> parameters;  // of the route, such as {id}
  std::string body;
  std::string peer;  // address of the client
  // For a response that takes long: `gone` is called, at most once and on the server's thread, if the client closes the
  // connection, or its own half of it, before the response.
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
  std::shared_ptr<BodyStream> stream{};  // instead of a body: sends what is written to it
  std::string problem{};                 // of an error response, for the log: "not_found: there is no task 17"
  // Called once, on the server's thread: true when the whole response was handed to the network, false if the
  // connection was lost before.
  std::function<void(bool written)> sent = [](bool) {};
};

// May be called from any thread; only the first call counts. If it is never called, the request is answered with 500
// when the last copy is destroyed.
using Respond = std::function<void(Response)>;
// Called on the server's thread: must not block.
using Serve = std::function<void(Request, Respond)>;

std::string_view to_string(Method method);

// An error response, always of this shape:
//   {"error":{"code":"not_found","message":"there is no task 17","hint":"…","request_id":"5f0c…"}}
struct Problem {
  int status = 500;
  std::string code = "internal";
  std::string message = "internal error; see the log entry with this request_id";
  std::string hint{};  // what to do; may be empty
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string cause{};  // only for the log, instead of the message; may be empty
};

Response to_response(const Problem& problem, const std::string& request_id);

}  // namespace easyretry::http
