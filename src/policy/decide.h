#pragma once
// The decisions of a policy: pure functions of the policy, the task, the time and one random number.

#include <optional>
#include <string>
#include <string_view>

#include <easyretry/policy.h>

namespace easyretry::policy {

// The wait after attempt `attempt` has failed, so attempt >= 1. `last` is the wait before that attempt (0 for the
// first). `random` is in [0, 1). Never negative, never above ten years, also at attempt 10,000.
Millis next_delay(const Backoff& backoff, int attempt, Millis last, double random);

// One line that can be parsed back: "exponential first=1s factor=2 cap=15m jitter=1s".
std::string to_text(const Backoff& backoff);
// Throws std::invalid_argument that names what is wrong.
Backoff parse_backoff(std::string_view text);

// Why a task may not be attempted (again), in words for its owner; nullopt if it may. `attempts` were made so far, and
// the next would start at `next`. A limit that is not set does not stop it.
std::optional<std::string> stop_reason(const Stop& stop, int attempts, TimePoint created, TimePoint next);

}  // namespace easyretry::policy
