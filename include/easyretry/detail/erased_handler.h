#pragma once
// A registered function with its types erased. Created by Engine::retryable; not for use by applications.

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <easyretry/handler.h>
#include <easyretry/options.h>
#include <easyretry/policy.h>
#include <easyretry/task.h>

#pragma GCC visibility push(default)
namespace easyretry::engine {
class RemoteExecutor;
}

namespace easyretry::detail {

// The stored arguments do not match the handler's parameters.
class UndecodablePayload : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The result that a callback takes is missing or has the wrong type.
class UndecodableResult : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Reply {
  std::optional<Answer> answer{};  // only from handlers that return Answer, or from a filter
  std::optional<bool> success{};   // the verdict of a typed success_when
  std::string result{};            // JSON; only on request
  std::string unwritable{};        // why a requested result is missing: JSON cannot represent it
};

// Tells whether a direct call can bypass the engine unless it fails.
struct CallGate {
  std::atomic<bool> open{false};    // depends on how the handler is registered
  std::atomic<int> left_behind{0};  // tasks of this process's failed calls; a success with the same key ends them

  bool lets_by() const {
    return open.load(std::memory_order_relaxed) && left_behind.load(std::memory_order_relaxed) == 0;
  }
};

// Its special members are defined in the library: std::function, Policy and the options would otherwise be instantiated
// in every file of an application.
struct Handler {
  Handler();
  Handler(std::string handler_name, const Policy& policy_in_code, const HandlerOptions& handler_options);
  Handler(const Handler&);
  Handler(Handler&&) noexcept;
  Handler& operator=(const Handler&);
  Handler& operator=(Handler&&) noexcept;
  ~Handler();

  std::string name;
  Policy policy;
  HandlerOptions options;
  std::string_view no_expression_because;  // empty: success_when may be an expression
  bool returns_answer = false;
  bool returns_value = false;  // other than void or Answer
  bool judges_result = false;  // `invoke` decides whether the result is a success
  std::function<Reply(const std::string& payload, bool want_result)> invoke;
  std::shared_ptr<engine::RemoteExecutor> remote;  // instead of invoke
  std::function<void(const std::string& result, const TaskInfo& task)> on_success;
  std::function<void(const std::string& result)> check_result;  // throws UndecodableResult if on_success cannot take it
  std::function<void(const Failure& failure, const TaskInfo& task)> on_final_failure;
  std::function<void(const std::string& error, const TaskInfo& task)> on_retry_scheduled;
  std::shared_ptr<CallGate> gate;
};

// A direct call by the application, with its types erased. Keeps what the function returned or threw.
class DirectCall {
 public:
  virtual ~DirectCall() = default;
  // Keeps exceptions in `thrown`, then lets them through.
  virtual Reply run(bool want_result) = 0;
  virtual std::string arguments() const = 0;  // as JSON

  std::exception_ptr thrown;
  const char* what = nullptr;  // the full message, if known: reading it from `thrown` costs another throw
};

}  // namespace easyretry::detail
#pragma GCC visibility pop
