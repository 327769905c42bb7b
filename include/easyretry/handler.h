#pragma once
// For code inside a handler: the answers it can give, and the task that it runs.

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <easyretry/task.h>

#pragma GCC visibility push(default)
namespace easyretry {

// The answer of a handler for which returning normally or throwing is not precise enough.
struct Answer {
  enum class Kind { done, retry_later, retry_after, give_up };
  Kind kind = Kind::done;
  std::string why{};
  Millis delay{0};
};

inline Answer done() {
  return {};
}
// Counts as a failed attempt; the policy decides when the next one starts.
inline Answer retry_later(std::string why) {
  return {Answer::Kind::retry_later, std::move(why)};
}
// As above, but the next attempt starts after `delay` instead of the policy's backoff.
inline Answer retry_after(Millis delay, std::string why = "asked to wait") {
  return {Answer::Kind::retry_after, std::move(why), delay};
}
// A final failure, even if the policy would allow more attempts.
inline Answer give_up(std::string why) {
  return {Answer::Kind::give_up, std::move(why)};
}

namespace detail {
class TaskControl;
}

// A handler's access to the task it is running.
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
#pragma GCC visibility pop
