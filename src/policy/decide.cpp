#include "policy/decide.h"

#include <algorithm>
#include <cmath>

#include "base/duration_text.h"
#include "base/time_text.h"
#include "policy/limits.h"

namespace easyretry::policy {
namespace {

// Computed in double, where factor^10000 is infinity and not an overflow; the cap then makes it finite again.
double ms(Millis duration) {
  return static_cast<double>(duration.count());
}

Millis clamp(double millis) {
  if (!(millis > 0)) return Millis::zero();  // NaN too
  return Millis{std::llround(std::min(millis, ms(kLongestDelay)))};
}

// The range of decorrelated jitter. A shape without a cap stays between a third of its wait and its wait: with the wait
// as cap and a growth of 3, decorrelated jitter settles there.
struct Range {
  double first;
  double cap;
};

double base_delay(const Exponential& shape, int attempt) {
  return std::min(ms(shape.first) * std::pow(shape.factor, attempt), ms(shape.cap));
}
Range range(const Exponential& shape, double) {
  return {ms(shape.first), ms(shape.cap)};
}

double base_delay(const Linear& shape, int attempt) {
  return std::min(ms(shape.first) + (attempt - 1.0) * ms(shape.step), ms(shape.cap));
}
Range range(const Linear& shape, double) {
  return {ms(shape.first), ms(shape.cap)};
}

double base_delay(const Fixed& shape, int) {
  return ms(shape.delay);
}
Range range(const Fixed&, double delay) {
  return {delay / 3, delay};
}

double base_delay(const Ladder& shape, int attempt) {
  // `validate` refuses an empty ladder; if one gets here, no wait at all would be the worst answer.
  if (shape.steps.empty()) return ms(Fixed{}.delay);
  const auto step = std::min(static_cast<std::size_t>(attempt), shape.steps.size());
  return ms(shape.steps[step - 1]);
}
Range range(const Ladder&, double delay) {
  return {delay / 3, delay};
}

// Depends on `attempt` only, not on the wait before, so that a requeued or moved task waits the same.
double classic_delay(int attempt) {
  constexpr double kStep = 5'000;
  constexpr double kCap = 900'000;
  double delay = 0;
  for (int n = 1; n <= attempt && delay < kCap; ++n) delay = std::min(n * (delay + kStep), kCap);
  return delay;
}

// Before the first retry `last` is 0 and counts as `first`: tasks that failed together must spread from the beginning.
double decorrelated(Range range, double last, double random) {
  const double high = 3 * std::max(range.first, last);
  return std::min(range.first + random * (high - range.first), range.cap);
}

template <class Shape>
double jittered(const Shape& shape, int attempt, Millis last, double random) {
  const double delay = base_delay(shape, attempt);
  switch (shape.jitter.kind()) {
    case Jitter::Kind::none: return delay;
    case Jitter::Kind::additive: return delay + random * ms(shape.jitter.amount());
    case Jitter::Kind::full: return random * delay;
    case Jitter::Kind::decorrelated: return decorrelated(range(shape, delay), ms(last), random);
  }
  return delay;
}

double jittered(const EasyRetryClassic&, int attempt, Millis, double) {
  return classic_delay(attempt);
}

}  // namespace

Millis next_delay(const Backoff& backoff, int attempt, Millis last, double random) {
  const int n = std::max(attempt, 1);
  return clamp(std::visit([&](const auto& shape) { return jittered(shape, n, last, random); }, backoff));
}

std::optional<std::string> stop_reason(const Stop& stop, int attempts, TimePoint created, TimePoint next) {
  if (stop.max_attempts > 0 && attempts >= stop.max_attempts) {
    return std::to_string(attempts) + (attempts == 1 ? " attempt" : " attempts") +
           " made (max_attempts = " + std::to_string(*stop.max_attempts) + ")";
  }
  // Not created + max_duration, which could overflow.
  if (const Millis age = next - created; stop.max_duration > Millis::zero() && age > stop.max_duration) {
    return "the next attempt would start " + base::to_text(age) +
           " after the task was stored (max_duration = " + base::to_text(*stop.max_duration) + ")";
  }
  if (stop.deadline && next > *stop.deadline) {
    return "the next attempt would start at " + base::to_text(next) + " (deadline = " + base::to_text(*stop.deadline) +
           ")";
  }
  return std::nullopt;
}

}  // namespace easyretry::policy
