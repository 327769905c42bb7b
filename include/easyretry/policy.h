#pragma once
// When to retry, when to stop, and what is worth retrying. Plain values; `validate` rejects an invalid policy when the
// handler is registered, so it never reaches the engine.

#include <exception>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <easyretry/success.h>
#include <easyretry/time.h>
#include <easyretry/type_name.h>

namespace easyretry {

// Spreads out retries of calls that failed at the same time, so that they do not all come back at the same time.
class Jitter {
 public:
  enum class Kind {
    none,          // the exact delay
    additive,      // delay + [0, amount]
    full,          // [0, delay]
    decorrelated,  // [first, 3 × the previous delay], never above the cap
  };

  Jitter() = default;
  template <class Rep, class Period>
  Jitter(std::chrono::duration<Rep, Period> amount)  // NOLINT: so that `.jitter = 1s` works
      : kind_(amount.count() == 0 ? Kind::none : Kind::additive), amount_(std::chrono::ceil<Millis>(amount)) {}

  static Jitter none() { return {}; }
  static Jitter full() { return Jitter{Kind::full}; }
  static Jitter decorrelated() { return Jitter{Kind::decorrelated}; }

  Kind kind() const { return kind_; }
  Millis amount() const { return amount_; }
  friend bool operator==(const Jitter&, const Jitter&) = default;

 private:
  explicit Jitter(Kind kind) : kind_(kind) {}
  Kind kind_ = Kind::none;
  Millis amount_{0};
};

// The same delay each time.
struct Fixed {
  Millis delay = std::chrono::seconds{5};
  Jitter jitter{};
  friend bool operator==(const Fixed&, const Fixed&) = default;
};

// first, first + step, first + 2·step … up to cap.
struct Linear {
  Millis first = std::chrono::seconds{1};
  Millis step = std::chrono::seconds{1};
  Millis cap = std::chrono::minutes{15};
  Jitter jitter{};
  friend bool operator==(const Linear&, const Linear&) = default;
};

// Retry n waits min(first · factor^n, cap) + jitter: 2–3 s, 4–5 s, 8–9 s … for first = 1 s and one second of jitter.
struct Exponential {
  Millis first = std::chrono::seconds{1};
  double factor = 2.0;
  Millis cap = std::chrono::minutes{15};
  Jitter jitter = std::chrono::seconds{1};
  friend bool operator==(const Exponential&, const Exponential&) = default;
};

// An explicit list of delays; the last one repeats.
struct Ladder {
  std::vector<Millis> steps;
  Jitter jitter{};

  Ladder() = default;
  Ladder(std::initializer_list<Millis> waits, Jitter spread = {}) : steps(waits), jitter(spread) {}
  friend bool operator==(const Ladder&, const Ladder&) = default;
};

// As in Alibaba's EasyRetry: retry n waits n · (previous delay + 5 s), at most 15 min: 5, 20, 75, 320, 900 … seconds.
struct EasyRetryClassic {
  friend bool operator==(const EasyRetryClassic&, const EasyRetryClassic&) = default;
};

using Backoff = std::variant<Exponential, Fixed, Linear, Ladder, EasyRetryClassic>;

// The first limit that is reached stops the task. If the next attempt could only start after a limit, the task ends at
// once.
struct Stop {
  int max_attempts = 16;                // total executions, including the first; 0 = no limit
  Millis max_duration{0};               // from the time the task was stored; 0 = no limit
  std::optional<TimePoint> deadline{};  // an absolute time
  friend bool operator==(const Stop&, const Stop&) = default;
};

// An exception type for retry_on and never_retry. A base class also matches derived classes. Exceptions nested with
// std::throw_with_nested are matched too.
struct ExceptionType {
  std::string_view name;
  bool (*matches)(const std::exception_ptr&);
};

namespace detail {
bool matches_nested(const std::exception_ptr& thrown, bool (*matches)(const std::exception_ptr&));
template <class E>
bool is_type(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const E&) {
    return true;
  } catch (...) {
    return matches_nested(thrown, &is_type<E>);
  }
}
}  // namespace detail

template <class E>
ExceptionType type() {
  return {detail::type_name<E>(), &detail::is_type<E>};
}

struct Policy {
  Backoff backoff = Exponential{};
  Stop stop{};
  std::vector<ExceptionType> retry_on{};  // empty: everything except never_retry
  std::vector<ExceptionType> never_retry{};
  SuccessWhen success_when{};
};

// Throws std::invalid_argument with the field, its value and what is allowed.
void validate(const Policy& policy);

// Whether this policy retries the exception in `thrown`.
bool worth_retrying(const Policy& policy, const std::exception_ptr& thrown);

}  // namespace easyretry
