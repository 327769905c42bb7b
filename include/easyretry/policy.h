#pragma once
// When to retry, when to stop, and what is worth retrying. Plain values; `validate` rejects an invalid policy when the
// handler is registered, so it never reaches the engine.

#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

#include <easyretry/detail/signature.h>
#include <easyretry/detail/type_name.h>
#include <easyretry/time.h>

#pragma GCC visibility push(default)
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

inline constexpr int kDefaultMaxAttempts = 16;

// The first limit that is reached stops the task. If the next attempt could only start after a limit, the task ends at
// once.
struct Stop {
  std::optional<int> max_attempts{};     // total executions, including the first; 0 = no limit; the library's is 16
  std::optional<Millis> max_duration{};  // from the time the task was stored; 0 = no limit, as in the library
  std::optional<TimePoint> deadline{};   // an absolute time
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

namespace policy {
class [[gnu::visibility("hidden")]] SuccessExpression;  // not for applications
}

namespace detail {
template <class F>
inline constexpr bool kIsCondition =
    std::is_same_v<typename Signature<F>::Result, bool>&& std::tuple_size_v<typename Signature<F>::Arguments> == 1;
}

// The condition under which a result counts as a success. A call that throws has failed in any case.
//
//   .success_when = "result.code == 200"                               // a Lua 5.4 expression over `result` and `args`
//   .success_when = [](const PayResult& r) { return r.code == 200; }   // the same, typed and faster
//
// The constructor compiles the expression, so a typo throws std::invalid_argument there. The expression runs without
// libraries and with limits on instructions and memory. Without a condition, a call that does not throw has succeeded.
class SuccessWhen {
 public:
  SuccessWhen() = default;
  SuccessWhen(std::string expression);  // NOLINT: so that `.success_when = "…"` works
  SuccessWhen(const char* expression) : SuccessWhen(std::string{expression}) {}       // NOLINT
  SuccessWhen(std::string_view expression) : SuccessWhen(std::string{expression}) {}  // NOLINT

  template <class F>
  requires detail::HasOneSignature<F> SuccessWhen(F check) {  // NOLINT
    static_assert(detail::kIsCondition<F>,
                  "easyretry: success_when takes the result alone and returns bool: [](const Result& r) { return …; }");
    if constexpr (detail::kIsCondition<F>) {
      using Result = std::tuple_element_t<0, typename detail::Signature<F>::Arguments>;
      type_ = &typeid(Result);
      type_name_ = detail::type_name<Result>();
      check_ = [check = std::move(check)](const void* result) { return check(*static_cast<const Result*>(result)); };
    }
  }

  // Replaces the expression, or removes it if empty; keeps a typed condition.
  SuccessWhen with_expression(std::string expression) const;
  // Both conditions must hold. If both have an expression, only the other's is used. Two typed conditions must take the
  // same result type.
  SuccessWhen and_also(SuccessWhen other) const;

  bool empty() const { return !expression_ && !check_; }
  const std::string& text() const { return text_; }  // of the expression

  const policy::SuccessExpression* expression() const { return expression_.get(); }

  bool typed() const { return check_ != nullptr; }
  std::string_view type_name() const { return type_name_; }
  template <class R>
  bool takes() const {
    return *type_ == typeid(R);
  }
  template <class R>
  bool holds_for(const R& result) const {
    return check_(&result);
  }

 private:
  std::string text_;
  std::shared_ptr<const policy::SuccessExpression> expression_;
  const std::type_info* type_ = nullptr;
  std::string_view type_name_;
  std::function<bool(const void*)> check_;
};

// A field that is not set comes from the configuration's `defaults`, if there are any, or else from the library. An
// entry of the configuration for the handler replaces what is set here. Exception types of all three add up
// (docs/configuration.md).
struct Policy {
  std::optional<Backoff> backoff{};  // the library's is Exponential{}
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
#pragma GCC visibility pop
