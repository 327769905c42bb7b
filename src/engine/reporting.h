#pragma once
// Tells the outside what happened: statistics, log, event listeners, and callbacks of the application.

#include <optional>
#include <string>

#include "engine/context.h"

namespace easyretry::engine {

// The outcome of an execution. `task` as the execution saw it; called once the settlement is stored.
void report(Context& context, const task::Settlement& settlement, const TaskInfo& task);
// A task that a user has ended, without a callback.
void report(Context& context, const task::Ending& ending, const TaskInfo& task);

// A step of housekeeping; it is also logged.
void report(Context& context, const storage::KeepStep& step);

// A task was just stored.
void report_stored(Context& context, const task::NewTask& task, TaskId id, TimePoint due);
// `ended` was just stored again, as `id`.
void report_requeued(Context& context, const TaskInfo& ended, TaskId id);

// A callback that fails is retried by itself, this often and this slowly: 16 tries over about two hours.
inline constexpr int kCallbackAttempts = 16;
// `random` is in [0, 1).
Millis callback_delay(int tries, double random);

struct CallbackFailure {
  std::string message;
  bool for_good = false;  // the callback asks for something that it will never get
};

// Counts, logs and reports what a callback threw, and returns it; nothing else stops. Only inside a catch block.
CallbackFailure note_callback_failure(Context& context, const TaskInfo& task);

// Runs the callback and returns what it threw; nullopt: nothing. `task()` is only called after a failure.
template <class Callback, class Task>
std::optional<CallbackFailure> callback_error(Context& context, const Callback& callback, const Task& task) {
  try {
    callback();
    return std::nullopt;
  } catch (...) {
    return note_callback_failure(context, task());
  }
}

}  // namespace easyretry::engine
