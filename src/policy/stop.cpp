#include "base/duration_text.h"
#include "base/time_text.h"
#include "policy/decide.h"

namespace easyretry::policy {

std::optional<std::string> stop_reason(const Stop& stop, int attempts, TimePoint created, TimePoint next) {
  if (stop.max_attempts > 0 && attempts >= stop.max_attempts) {
    return std::to_string(attempts) + (attempts == 1 ? " attempt" : " attempts") +
           " made (max_attempts = " + std::to_string(stop.max_attempts) + ")";
  }
  // Not created + max_duration, which could overflow.
  if (const Millis age = next - created; stop.max_duration > Millis::zero() && age > stop.max_duration) {
    return "the next attempt would start " + base::to_text(age) +
           " after the task was stored (max_duration = " + base::to_text(stop.max_duration) + ")";
  }
  if (stop.deadline && next > *stop.deadline) {
    return "the next attempt would start at " + base::to_text(next) + " (deadline = " + base::to_text(*stop.deadline) +
           ")";
  }
  return std::nullopt;
}

}  // namespace easyretry::policy
