#include "http/problem.h"

#include <easyretry/json.h>

#include "base/utf8.h"

namespace easyretry::http {

// A message may quote what was sent, whatever that is; saying no must not fail.
Response to_response(const Problem& problem, const std::string& request_id) {
  std::map<std::string, std::string> error{
      {"code", problem.code}, {"message", base::storable_utf8(problem.message)}, {"request_id", request_id}};
  if (!problem.hint.empty()) error["hint"] = problem.hint;
  return {.status = problem.status,
          .body = to_json(std::map<std::string, std::map<std::string, std::string>>{{"error", std::move(error)}}),
          .headers = problem.headers};
}

}  // namespace easyretry::http
