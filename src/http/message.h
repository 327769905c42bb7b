#pragma once
// What came and what goes back, without a word of how it travels.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
};

// May be called from any thread, once; what is never answered is answered with 500 when the last copy goes.
using Respond = std::function<void(Response)>;
// Called on the server's own thread: must not wait for anything.
using Serve = std::function<void(Request, Respond)>;

std::string_view to_string(Method method);

}  // namespace easyretry::http
