#pragma once
// What a handler can know about the task it is running.

#include <stop_token>

#include <easyretry/task.h>

namespace easyretry {

struct TaskContext {
  const TaskInfo& info;  // info.version is the fencing token: pass it on to whatever can refuse an older one
  std::stop_token stop;  // set on timeout, lost lease, cancel and shutdown
};

// The task that this thread is running, nullptr outside of a handler or callback.
const TaskContext* current_task();

}  // namespace easyretry
