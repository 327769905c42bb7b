#pragma once
// The one shape of everything that is not all right:
//   {"error":{"code":"not_found","message":"there is no task 17","hint":"…","request_id":"5f0c…"}}

#include <string>

#include "http/message.h"

namespace easyretry::http {

struct Problem {
  int status = 500;
  std::string code = "internal";
  std::string message = "something went wrong here; the log has it under this request_id";
  std::string hint{};  // what to do; may be empty
  std::vector<std::pair<std::string, std::string>> headers{};
};

Response to_response(const Problem& problem, const std::string& request_id);

}  // namespace easyretry::http
