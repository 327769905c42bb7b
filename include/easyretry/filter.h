#pragma once
// Code around every attempt, first and retried: to time, log, add context, translate exceptions, or hold it back.
//
//   engine.add_filter([](AttemptScope& attempt, const Proceed& proceed) {
//     const auto begun = steady_clock::now();
//     proceed();
//     metrics.observe(attempt.handler(), steady_clock::now() - begun);
//   });
//
// `proceed` runs the filters after this one and then the function, and throws what they throw. Filters run in the order
// they were added, the first one outermost. One that does not call `proceed` says instead what
// the attempt came to: attempt.answer(retry_after(5min)), or it throws. One that keeps what `proceed` threw to itself
// changes nothing: the attempt has failed by it all the same.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <easyretry/answer.h>
#include <easyretry/task.h>

namespace easyretry {

class AttemptScope {
 public:
  AttemptScope(std::string_view handler, int number, const TaskInfo* task)
      : handler_(handler), number_(number), task_(task) {}

  std::string_view handler() const { return handler_; }
  int number() const { return number_; }  // 1 for the first
  bool first() const { return number_ == 1; }
  const TaskInfo* task() const { return task_; }  // null for a first attempt of which nothing is stored

  // Seen by the filters after this one and by the handler: current_attempt()->value("tenant").
  void set(std::string name, std::string value) { values_.insert_or_assign(std::move(name), std::move(value)); }
  std::string_view value(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::string_view{} : std::string_view{found->second};
  }

  // Instead of proceed(). done() has no value to give and is therefore for handlers that return nothing.
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

// The attempt that runs on this thread, where the engine has filters; nullptr otherwise.
const AttemptScope* current_attempt();

}  // namespace easyretry
