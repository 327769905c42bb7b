#include <array>
#include <cstdio>

#include "base/duration_text.h"
#include "policy/decide.h"

namespace easyretry::policy {
namespace {

// 2026-03-01T12:00:00.000Z
std::string utc_text(TimePoint time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text.data();
}

}  // namespace

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
    return "the next attempt would start at " + utc_text(next) + " (deadline = " + utc_text(*stop.deadline) + ")";
  }
  return std::nullopt;
}

}  // namespace easyretry::policy
