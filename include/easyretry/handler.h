#pragma once
// A registered function with its types erased. Made by Engine::retryable; not for use by applications.

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <easyretry/answer.h>
#include <easyretry/options.h>
#include <easyretry/policy.h>
#include <easyretry/task.h>

namespace easyretry::engine {
class Elsewhere;
}

namespace easyretry::detail {

// The stored arguments do not fit the handler's parameters.
class UndecodablePayload : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The result that a callback asks for is not there, or is not what it expects.
class UndecodableResult : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Reply {
  std::optional<Answer> answer{};  // only from handlers that return Answer, or from a filter
  std::optional<bool> success{};   // what a typed success_when says
  std::string result{};            // JSON; only when asked for
  std::string unwritable{};        // why there is none all the same: it holds what JSON cannot
};

// Says whether a direct call needs nothing of the engine unless it fails.
struct CallGate {
  std::atomic<bool> open{false};    // by how the handler is registered
  std::atomic<int> left_behind{0};  // tasks of failed calls of this process, which a success of the same key ends

  bool lets_by() const {
    return open.load(std::memory_order_relaxed) && left_behind.load(std::memory_order_relaxed) == 0;
  }
};

struct Handler {
  std::string name;
  Policy policy;
  bool policy_given = true;  // false: the configuration's defaults may say
  HandlerOptions options;
  std::string_view no_expression_because;  // empty: success_when may be an expression
  bool returns_answer = false;
  bool returns_value = false;  // neither nothing nor an Answer
  bool judges_result = false;  // `invoke` says whether the result is a success
  std::function<Reply(const std::string& payload, bool want_result)> invoke;
  std::shared_ptr<engine::Elsewhere> elsewhere;  // instead of invoke
  std::function<void(const std::string& result, const TaskInfo& task)> on_success;
  std::function<void(const Failure& failure, const TaskInfo& task)> on_final_failure;
  std::function<void(const std::string& error, const TaskInfo& task)> on_retry_scheduled;
  std::shared_ptr<CallGate> gate = std::make_shared<CallGate>();
};

// A call that the application makes itself, its types erased. Keeps what the function returned or threw.
class DirectCall {
 public:
  virtual ~DirectCall() = default;
  // Lets exceptions through, after keeping them in `thrown`.
  virtual Reply run(bool want_result) = 0;
  virtual std::string arguments() const = 0;  // as JSON

  std::exception_ptr thrown;
  const char* what = nullptr;  // all it says, where that is known: to read it from `thrown` takes another throw
};

}  // namespace easyretry::detail
