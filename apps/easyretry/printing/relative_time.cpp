#include "printing/relative_time.h"

#include <fmt/format.h>

namespace easyretry::app {

std::string age_text(Millis age) {
  const auto seconds = age.count() / 1000;
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  if (seconds < 172'800) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} days", seconds / 86'400);
}

std::string relative_text(TimePoint time, TimePoint now) {
  constexpr Millis kNow{1000};
  if (time >= now + kNow) return "in " + age_text(time - now);
  if (time <= now - kNow) return age_text(now - time) + " ago";
  return "now";
}

}  // namespace easyretry::app
