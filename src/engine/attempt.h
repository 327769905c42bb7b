#pragma once
// Runs one claimed task through its stage and says what is to be settled. Whatever user code throws ends here.

#include "engine/context.h"
#include "engine/run.h"

namespace easyretry::engine {

task::Settlement attempt(Run& run, Context& context);

// Callbacks are retried alone, this often and this slowly: 16 tries over about two hours.
inline constexpr int kCallbackAttempts = 16;
inline const Backoff kCallbackBackoff = Exponential{.first = 1s, .cap = 15min, .jitter = 1s};

}  // namespace easyretry::engine
