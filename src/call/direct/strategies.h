#pragma once
// What becomes of a call, by Persist strategy. `called` is how its first run ended.

#include "call/direct/failed_keys.h"
#include "call/direct/one_call.h"

namespace easyretry::call {

// retry_only, on_failure: a failure becomes a task, and a success ends the task that an earlier failure has left.
detail::DirectResult stored_if_failed(OneCall& call, engine::Called called, FailedKeys& failed_keys);

// always: it is a task before it runs, leased by this instance.
detail::DirectResult leased(OneCall& call);

// never: retried by this process, on the caller's thread or in the background. `wait` sleeps and says whether to go on.
detail::DirectResult retried_in_memory(OneCall& call, engine::Called called, const std::function<bool(Millis)>& wait);

}  // namespace easyretry::call
