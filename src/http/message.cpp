#include "http/message.h"

#include <easyretry/json.h>

#include "base/utf8.h"

namespace easyretry::http {

std::string_view to_string(Method method) {
  switch (method) {
    case Method::get: return "GET";
    case Method::head: return "HEAD";
    case Method::post: return "POST";
    case Method::put: return "PUT";
    case Method::patch: return "PATCH";
    case Method::del: return "DELETE";
    case Method::other: break;
  }
  return "OTHER";
}

namespace {

struct ErrorDetails {
  std::string_view code;
  std::string message;
  std::optional<std::string_view> hint;
  std::string_view request_id;
};
EASYRETRY_JSON(ErrorDetails, code, message, hint, request_id)

struct ErrorAnswer {
  ErrorDetails error;
};
EASYRETRY_JSON(ErrorAnswer, error)

}  // namespace

// A message may quote bytes of the request that are not UTF-8.
Response to_response(const Problem& problem, const std::string& request_id) {
  const auto hint = problem.hint.empty() ? std::nullopt : std::optional<std::string_view>{problem.hint};
  const ErrorAnswer answer{{problem.code, base::storable_utf8(problem.message), hint, request_id}};
  return {.status = problem.status,
          .body = to_json(answer),
          .headers = problem.headers,
          .problem = problem.code + ": " + (problem.cause.empty() ? problem.message : problem.cause)};
}

}  // namespace easyretry::http
