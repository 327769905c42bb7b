#pragma once
// What a handler can know about the task it is running, and say about it.

#include <optional>
#include <stop_token>
#include <string_view>

#include <easyretry/task.h>

namespace easyretry {

namespace detail {
class TaskControl;
}

struct TaskContext {
  const TaskInfo& info;  // info.version is the fencing token: pass it on to whatever can refuse an older one
  std::stop_token stop;  // set on timeout, lost lease, cancel and shutdown
  std::optional<TimePoint> deadline;  // no attempt starts after it
  bool first;                         // the first attempt, which may be a direct call

  // The lease is renewed by itself while the handler runs. This asks for a longer one, for a handler that is about to
  // hold up the whole process or to outlast its timeout, which moves along. False: the task is someone else's by now.
  bool extend_lease(Millis by) const;
  // Kept with the task, also if this process dies: the next attempt finds it in info.progress. At most 1,000 bytes are
  // kept. False: the task is someone else's by now.
  bool progress(std::string_view note) const;

  detail::TaskControl* control = nullptr;  // null in a callback
};

// The task that this thread is running, nullptr outside of a handler or callback. A first attempt of which nothing is
// stored (every strategy but `always`) has no task yet.
const TaskContext* current_task();

}  // namespace easyretry
