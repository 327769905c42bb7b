#pragma once
// When to try again, when to stop, and what is worth another try. Plain values; a wrong one is refused by
// `validate` where the handler is registered, so it never reaches the engine.

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

using namespace std::chrono_literals;

// Spreads retries that failed together, so that they do not come back together.
class Jitter {
 public:
  enum class Kind {
    none,          // exactly the delay
    additive,      // delay + [0, amount]
    full,          // [0, delay]
    decorrelated,  // [first, 3 × the delay before], never above the cap
  };

  Jitter() = default;
  template <class Rep, class Period>
  Jitter(std::chrono::duration<Rep, Period> amount)  // NOLINT: `.jitter = 1s` is how people write it
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

// The same wait each time.
struct Fixed {
  Millis delay = 5s;
  Jitter jitter{};
  friend bool operator==(const Fixed&, const Fixed&) = default;
};

// first, first + step, first + 2·step … up to cap.
struct Linear {
  Millis first = 1s;
  Millis step = 1s;
  Millis cap = 15min;
  Jitter jitter{};
  friend bool operator==(const Linear&, const Linear&) = default;
};

// Retry n waits min(first · factor^n, cap) + jitter: 2–3 s, 4–5 s, 8–9 s … for first = 1 s and one second of jitter.
struct Exponential {
  Millis first = 1s;
  double factor = 2.0;
  Millis cap = 15min;
  Jitter jitter = 1s;
  friend bool operator==(const Exponential&, const Exponential&) = default;
};

// The waits written out; the last one repeats.
struct Ladder {
  std::vector<Millis> steps;
  Jitter jitter{};

  Ladder() = default;
  Ladder(std::initializer_list<Millis> waits, Jitter spread = {}) : steps(waits), jitter(spread) {}
  friend bool operator==(const Ladder&, const Ladder&) = default;
};

// Alibaba EasyRetry's: retry n waits n · (the wait before + 5 s), at most 15 min: 5, 20, 75, 320, 900 … seconds.
struct EasyRetryClassic {
  friend bool operator==(const EasyRetryClassic&, const EasyRetryClassic&) = default;
};

using Backoff = std::variant<Exponential, Fixed, Linear, Ladder, EasyRetryClassic>;

// Any one of them stops. An attempt that could only start after a limit is not waited for: the task ends at once.
struct Stop {
  int max_attempts = 16;                // executions in all, the first one included; 0 = no limit
  Millis max_duration{0};               // since the task was stored; 0 = no limit
  std::optional<TimePoint> deadline{};  // absolute
  friend bool operator==(const Stop&, const Stop&) = default;
};

// An exception type by which failures are told apart; a base class matches what is derived from it, and an exception
// nested with std::throw_with_nested is seen too.
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
  std::vector<ExceptionType> retry_on{};  // empty: everything that is not in never_retry
  std::vector<ExceptionType> never_retry{};
  SuccessWhen success_when{};
};

// Throws std::invalid_argument naming the field, its value and what would be right.
void validate(const Policy& policy);

// The exception in `thrown` deserves another attempt under this policy.
bool worth_retrying(const Policy& policy, const std::exception_ptr& thrown);

}  // namespace easyretry
