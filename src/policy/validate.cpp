#include <cmath>
#include <stdexcept>

#include <easyretry/policy.h>

#include "base/duration_text.h"
#include "policy/limits.h"

namespace easyretry {
namespace {

using base::to_text;

[[noreturn]] void refuse(const std::string& field, const std::string& value, const std::string& remedy) {
  throw std::invalid_argument("policy." + field + " = " + value + ": " + remedy);
}

void check_delay(const std::string& field, Millis delay) {
  if (delay < Millis::zero()) refuse(field, to_text(delay), "a wait cannot be negative; use 0 or more");
  if (delay > policy::kLongestDelay) refuse(field, to_text(delay), "use at most ten years");
}

void check_jitter(const Jitter& jitter) {
  check_delay("backoff.jitter", jitter.amount());
}

void check_cap(Millis first, Millis cap) {
  check_delay("backoff.cap", cap);
  if (cap < first) refuse("backoff.cap", to_text(cap), "must not be below first = " + to_text(first));
}

void check(const Exponential& shape) {
  check_delay("backoff.first", shape.first);
  if (shape.first == Millis::zero()) {
    refuse("backoff.first", "0s", "zero does not grow; use 1ms or more, or Fixed{0ms} to retry at once");
  }
  if (!std::isfinite(shape.factor) || shape.factor < 1) {
    refuse("backoff.factor", std::to_string(shape.factor), "use 1 or more, such as 2");
  }
  check_cap(shape.first, shape.cap);
  check_jitter(shape.jitter);
}

void check(const Fixed& shape) {
  check_delay("backoff.delay", shape.delay);
  check_jitter(shape.jitter);
}

void check(const Linear& shape) {
  check_delay("backoff.first", shape.first);
  check_delay("backoff.step", shape.step);
  check_cap(shape.first, shape.cap);
  check_jitter(shape.jitter);
}

void check(const Ladder& shape) {
  if (shape.steps.empty()) refuse("backoff.steps", "{}", "give at least one wait, such as Ladder{5s, 30s}");
  for (std::size_t i = 0; i < shape.steps.size(); ++i) {
    check_delay("backoff.steps[" + std::to_string(i) + "]", shape.steps[i]);
  }
  check_jitter(shape.jitter);
}

void check(const EasyRetryClassic&) {}

void check(const Stop& stop) {
  constexpr int kMostAttempts = 1'000'000;
  if (stop.max_attempts < 0 || stop.max_attempts > kMostAttempts) {
    refuse("stop.max_attempts", std::to_string(stop.max_attempts), "use 1 to 1000000, or 0 for no limit");
  }
  if (stop.max_duration < Millis::zero()) {
    refuse("stop.max_duration", to_text(stop.max_duration), "cannot be negative; use 0 for no limit");
  }
}

void check_types(const std::string& field, const std::vector<ExceptionType>& types) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i].matches == nullptr) {
      refuse(field + "[" + std::to_string(i) + "]", "{}", "has no matcher; make it with easyretry::type<E>()");
    }
  }
}

}  // namespace

void validate(const Policy& policy) {
  std::visit([](const auto& shape) { check(shape); }, policy.backoff);
  check(policy.stop);
  check_types("retry_on", policy.retry_on);
  check_types("never_retry", policy.never_retry);
}

}  // namespace easyretry
