#pragma once
// The ways of a call, by Persist strategy. `called` is how its first run ended.

#include "call/direct/failed_keys.h"
#include "call/direct/one_call.h"

namespace easyretry::call {

// retry_only, on_failure: a failure becomes a task, and a success ends the task that an earlier failure left.
detail::DirectResult stored_if_failed(OneCall& call, engine::Called called, FailedKeys& failed_keys);

// never: retried by this process, on the caller's thread or in the background. `wait` sleeps; false: the engine stops.
detail::DirectResult retried_in_memory(OneCall& call, engine::Called called, const std::function<bool(Millis)>& wait);

}  // namespace easyretry::call
