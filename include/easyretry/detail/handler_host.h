#pragma once
// The engine as its handles see it.

#include <string>
#include <vector>

#include <easyretry/attempt.h>
#include <easyretry/detail/erased_handler.h>
#include <easyretry/submit.h>

#pragma GCC visibility push(default)
namespace easyretry::detail {

struct Submission {
  std::string payload;
  SubmitOptions options;
  Millis delay{0};      // used if options.due_at is not set
  int attempts = 0;     // already made by the caller
  std::string error{};  // of the last attempt
};

struct DirectResult {
  AttemptState state = AttemptState::succeeded;
  TaskId task{};
  std::string error{};
  bool rethrow = false;  // the function's exception goes to the caller
};

class HandlerHost {
 public:
  virtual ~HandlerHost() = default;
  virtual std::vector<TaskId> submit(const std::string& handler, std::vector<Submission> submissions) = 0;
  virtual std::vector<TaskId> submit(const Transaction& within, const std::string& handler,
                                     std::vector<Submission> submissions) = 0;
  // Makes the call with the handler's Persist strategy. Inside a retry, only calls the function and judges the result.
  virtual DirectResult call(const std::string& handler, DirectCall& call, const SubmitOptions& options) = 0;
  // The rest of call(), for a function that was called directly and has thrown.
  virtual DirectResult call_failed(const std::string& handler, DirectCall& call, const SubmitOptions& options) = 0;
  // Stores a call that, according to the caller, has failed.
  virtual TaskId store(const std::string& handler, Submission failed) = 0;
  virtual std::string key_of(const std::string& handler, const std::string& payload) = 0;
  // Callbacks that are set in `changes` replace those of the handler.
  virtual void change(const std::string& handler, Handler changes) = 0;
};

inline std::string engine_is_gone(const std::string& handler) {
  return "easyretry: the engine of handler \"" + handler + "\" no longer exists";
}

// Whether this thread is inside a task or a retry. If so, calls go straight through: a retry never creates a retry.
bool inside_retry();

}  // namespace easyretry::detail
#pragma GCC visibility pop
