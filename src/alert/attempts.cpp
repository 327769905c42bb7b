#include "alert/attempts.h"

namespace easyretry::alert {

void Attempts::add(bool failed, Instant now) {
  const std::int64_t number = number_at(now);
  Part& part = parts_[static_cast<std::size_t>(number % kParts)];
  if (part.number != number) part = {number, {}};
  ++part.count.all;
  if (failed) ++part.count.failed;
}

Attempts::Count Attempts::within_window(Instant now) const {
  const std::int64_t too_old = number_at(now) - kParts;
  Count sum;
  for (const auto& [number, count] : parts_) {
    if (number <= too_old) continue;
    sum.all += count.all;
    sum.failed += count.failed;
  }
  return sum;
}

}  // namespace easyretry::alert
