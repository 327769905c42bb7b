#pragma once
// A handler's access to the task it is running.

#include <optional>
#include <stop_token>
#include <string_view>

#include <easyretry/task.h>

namespace easyretry {

namespace detail {
class TaskControl;
}

struct TaskContext {
  const TaskInfo& info;  // info.version is the fencing token: pass it to any system that can reject an older one
  std::stop_token stop;  // requested on timeout, lost lease, cancel and shutdown
  std::optional<TimePoint> deadline;  // no attempt starts after this time
  bool first;                         // this is the first attempt, which may be a direct call

  // The engine renews the lease while the handler runs. This asks for a longer one, for a handler that is about to
  // block the whole process or to exceed its timeout; the timeout is extended too. Returns false if another instance
  // has taken over the task.
  bool extend_lease(Millis by) const;
  // Stores a note with the task. It survives the death of this process: the next attempt finds it in info.progress. At
  // most 1,000 bytes are kept. Returns false if another instance has taken over the task.
  bool progress(std::string_view note) const;

  detail::TaskControl* control = nullptr;  // null in a callback
};

// The task that this thread is running; nullptr outside a handler or callback. The first attempt of a direct call has
// no task yet, except with Persist::always.
const TaskContext* current_task();

}  // namespace easyretry
