#pragma once
// Tells the listeners of spans what happened to a task. Call these only if there are listeners.

#include <optional>
#include <string>

#include "engine/context.h"
#include "engine/in_flight.h"

namespace easyretry::engine {

// A task was stored, by a submit that began at `began`.
void tell_submit(const Context& context, const task::NewTask& task, TaskId id, Instant began);
// `ended` was stored again, as `id`. The span is linked to the last attempt of `ended`.
void tell_requeue(const Context& context, const TaskInfo& ended, TaskId id);

// The handler of a claimed task has run; `settlement` is the result for the task.
void tell_attempt(const Run& run, const Context& context, const task::Settlement& settlement);

// The call that an attempt has made. Its receiver got traceparent_of_webhook().
struct WebhookCalled {
  std::string server;           // host and port
  std::optional<int> status{};  // of the response; nullopt: there was none
};
std::string traceparent_of_webhook(const Context& context, const TaskInfo& task);
void tell_webhook(const Run& run, const Context& context, const WebhookCalled& called);

}  // namespace easyretry::engine
