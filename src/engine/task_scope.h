#pragma once
// The task of this thread: what current_task() returns to user code while it runs.

#include <easyretry/handler.h>

#include "engine/context.h"
#include "engine/in_flight.h"

namespace easyretry {

// The changes that a handler may make to its own task.
class detail::TaskControl {
 public:
  TaskControl(engine::Run& run, engine::Context& context) : run_(run), context_(context) {}
  bool extend(Millis by);
  bool note(std::string_view progress);

 private:
  bool renew(Millis lease, std::optional<std::string> progress);

  engine::Run& run_;
  engine::Context& context_;
};

namespace engine {

class TaskScope {
 public:
  TaskScope(Run& run, Context& context);
  ~TaskScope();
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

 private:
  detail::TaskControl control_;
  TaskContext context_;
  const TaskContext* outer_;
};

// Marks that this thread retries a call that has no task.
class RetryScope {
 public:
  RetryScope();
  ~RetryScope();
  RetryScope(const RetryScope&) = delete;
  RetryScope& operator=(const RetryScope&) = delete;

 private:
  bool outer_;
};

}  // namespace engine
}  // namespace easyretry
