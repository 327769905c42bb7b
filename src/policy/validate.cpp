#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <easyretry/options.h>
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
  if (const auto most = stop.max_attempts; most && (*most < 0 || *most > kMostAttempts)) {
    refuse("stop.max_attempts", std::to_string(*most), "use 1 to 1000000, or 0 for no limit");
  }
  if (stop.max_duration && *stop.max_duration < Millis::zero()) {
    refuse("stop.max_duration", to_text(*stop.max_duration), "cannot be negative; use 0 for no limit");
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
  if (policy.backoff) std::visit([](const auto& shape) { check(shape); }, *policy.backoff);
  check(policy.stop);
  check_types("retry_on", policy.retry_on);
  check_types("never_retry", policy.never_retry);
}

void validate(const LimitOptions& options) {
  const auto wrong = [](const char* field, const std::string& value, const std::string& remedy) {
    throw std::invalid_argument(std::string{"limit."} + field + " = " + value + ": " + remedy);
  };
  if (options.running && (*options.running < 0 || *options.running > 1'000'000)) {
    wrong("running", std::to_string(*options.running), "use 0 to 1000000 tasks at a time; 0 starts nothing");
  }
  if (options.per_second && !(*options.per_second >= 0.001 && *options.per_second <= 1'000'000)) {
    wrong("per_second", std::to_string(*options.per_second),
          "use 0.001 to 1000000 starts per second; to start nothing, use running = 0 or pause the handler");
  }
  if (options.burst < 1 || options.burst > 1'000'000) {
    wrong("burst", std::to_string(options.burst), "use 1 to 1000000 starts");
  }
  if (options.burst > 1 && !options.per_second) {
    wrong("burst", std::to_string(options.burst), "it is a part of per_second; set that, too");
  }
}

void validate(const CircuitOptions& options) {
  const auto wrong = [](const char* field, const std::string& value, const std::string& remedy) {
    throw std::invalid_argument(std::string{"circuit."} + field + " = " + value + ": " + remedy);
  };
  if (!(options.trip_at > 0 && options.trip_at <= 1)) {
    wrong("trip_at", std::to_string(options.trip_at), "a share of the attempts, above 0 and up to 1, such as 0.5");
  }
  if (options.window < std::chrono::seconds{1} || options.window > std::chrono::seconds{60}) {
    wrong("window", to_text(options.window), "use 1s to 60s");
  }
  if (options.least < 1 || options.least > 1'000'000) {
    wrong("least", std::to_string(options.least), "use 1 to 1000000 attempts");
  }
  if (!(options.probes >= 0.01 && options.probes <= 1000)) {
    wrong("probes", std::to_string(options.probes), "use 0.01 to 1000 per second");
  }
  if (const auto share = options.retries_at_most; share && !(*share >= 0 && *share < 1)) {
    wrong("retries_at_most", std::to_string(*share), "a share of the attempts, from 0 to below 1, such as 0.2");
  }
  if (options.retries_at_most && options.trip_at == 1) {
    wrong("retries_at_most", std::to_string(*options.retries_at_most),
          "a circuit that is off holds no retries back; switch it on");
  }
  validate(options.limit);
  if (options.limit.any() && options.trip_at == 1) {
    wrong("limit", "set", "a circuit that is off limits nothing; switch it on, or set the limit of each handler");
  }
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  if (options.name.size() > 200 || std::any_of(options.name.begin(), options.name.end(), control)) {
    wrong("name", "…", "use at most 200 bytes, without control characters");
  }
}

}  // namespace easyretry
