#pragma once
// A registered function with its types erased. Made by Engine::retryable; not for use by applications.

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include <easyretry/answer.h>
#include <easyretry/options.h>
#include <easyretry/policy.h>
#include <easyretry/task.h>

namespace easyretry::detail {

// The stored arguments do not fit the handler's parameters.
class UndecodablePayload : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Reply {
  std::optional<Answer> answer;  // only from handlers that return Answer
  std::string result;            // JSON; only when asked for
};

struct Handler {
  std::string name;
  Policy policy;
  HandlerOptions options;
  bool result_is_json = true;  // false: its result has no JSON conversion, so success_when cannot see it
  std::function<Reply(const std::string& payload, bool want_result)> invoke;
  std::function<void(const std::string& result, const TaskInfo& task)> on_success;
  std::function<void(const Failure& failure, const TaskInfo& task)> on_final_failure;
};

}  // namespace easyretry::detail
