#pragma once
// User code that is told something. What it throws is counted, logged and told to listeners, and stops nothing.

#include <optional>
#include <string>

#include "engine/context.h"

namespace easyretry::engine {

// Callbacks are retried alone, this often and this slowly: 16 tries over about two hours.
inline constexpr int kCallbackAttempts = 16;
Millis callback_delay(Context& context, int tries);

struct CallbackFailure {
  std::string message;
  bool for_good = false;  // it will never be given what it asks for
};

// Called inside a catch block; gives what was thrown.
CallbackFailure note_callback_failure(Context& context, const TaskInfo& task);

// What `callback` threw; nullopt: nothing. `task()` is only asked for where something was.
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
