#include <algorithm>
#include <cmath>

#include "policy/decide.h"
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

// What decorrelated jitter draws between. A shape without a cap stays between a third of its wait and its wait: with
// the wait as cap and 3 as the growth, that is where decorrelated jitter settles.
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
  // `validate` refuses an empty ladder; no wait at all would be the worst answer to one that got past it.
  if (shape.steps.empty()) return ms(Fixed{}.delay);
  const auto step = std::min(static_cast<std::size_t>(attempt), shape.steps.size());
  return ms(shape.steps[step - 1]);
}
Range range(const Ladder&, double delay) {
  return {delay / 3, delay};
}

// From `attempt` alone and not from the wait before, so a task that was requeued or moved waits the same.
double classic_delay(int attempt) {
  constexpr double kStep = 5'000;
  constexpr double kCap = 900'000;
  double delay = 0;
  for (int n = 1; n <= attempt && delay < kCap; ++n) delay = std::min(n * (delay + kStep), kCap);
  return delay;
}

// Before the first retry `last` is 0 and counts as `first`: tasks that failed together must spread from the start.
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

}  // namespace easyretry::policy
