#pragma once
// Code around every attempt, first or retried: to time it, log it, add context, translate exceptions, or delay it.
//
//   engine.add_filter([](AttemptScope& attempt, const Proceed& proceed) {
//     const auto begun = steady_clock::now();
//     proceed();
//     metrics.observe(attempt.handler(), steady_clock::now() - begun);
//   });
//
// `proceed` runs the filters after this one and then the function, and lets their exceptions through. Filters run in
// the order in which they were added, the first one outermost. A filter that does not call `proceed` must decide the
// result of the attempt: it calls attempt.answer(retry_after(5min)), or throws. If a filter swallows an exception of
// `proceed`, the attempt has still failed.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <easyretry/handler.h>
#include <easyretry/task.h>

#pragma GCC visibility push(default)
namespace easyretry {

class AttemptScope {
 public:
  AttemptScope(std::string_view handler, int number, const TaskInfo* task);

  std::string_view handler() const { return handler_; }
  int number() const { return number_; }  // 1 for the first attempt
  bool first() const { return number_ == 1; }
  const TaskInfo* task() const { return task_; }  // null for a first attempt that is not stored

  // Visible to the filters after this one and to the handler: current_attempt()->value("tenant").
  void set(std::string name, std::string value);
  std::string_view value(std::string_view name) const;  // empty if it is not set

  // Replaces proceed(). done() carries no value, so it is only for handlers that return nothing.
  void answer(Answer answer) { answer_ = std::move(answer); }
  const std::optional<Answer>& answer() const { return answer_; }

 private:
  std::string_view handler_;
  int number_;
  const TaskInfo* task_;
  std::map<std::string, std::string, std::less<>> values_;
  std::optional<Answer> answer_;
};

using Proceed = std::function<void()>;
using Filter = std::function<void(AttemptScope& attempt, const Proceed& proceed)>;

// The attempt that is running on this thread; nullptr if there is none, or if the engine has no filters.
const AttemptScope* current_attempt();

}  // namespace easyretry
#pragma GCC visibility pop
