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

// A message may quote bytes of the request that are not UTF-8.
Response to_response(const Problem& problem, const std::string& request_id) {
  std::map<std::string, std::string> error{
      {"code", problem.code}, {"message", base::storable_utf8(problem.message)}, {"request_id", request_id}};
  if (!problem.hint.empty()) error["hint"] = problem.hint;
  return {.status = problem.status,
          .body = to_json(std::map<std::string, std::map<std::string, std::string>>{{"error", std::move(error)}}),
          .headers = problem.headers};
}

}  // namespace easyretry::http
