#pragma once
// Connects typed functions with the type-erased engine. Not for use by applications.

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <easyretry/attempt.h>
#include <easyretry/detail/erased_handler.h>
#include <easyretry/json.h>

#pragma GCC visibility push(default)
namespace easyretry::detail {

template <class T>
inline constexpr bool kHasJson = JsonConvertible<T>;
template <class R>
inline constexpr bool kHasValue = !std::is_void_v<R> && !std::same_as<R, Answer>;

template <class R>
constexpr std::string_view no_expression_because() {
  if constexpr (std::is_void_v<R>) {
    return "the handler returns no result";
  } else if constexpr (std::same_as<R, Answer>) {
    return "the handler's Answer says whether it succeeded";
  } else if constexpr (!kHasJson<R>) {
    return "the result has no JSON conversion; add EASYRETRY_JSON for its type, or use a typed condition";
  } else {
    return {};
  }
}

// The function, as called by handles and tasks.
template <class R, class... Args>
struct Callee {
  std::function<R(const Args&...)> function;
  SuccessWhen success_when;

  Attempt<R> attempt(const Args&... args) const {
    if constexpr (std::is_void_v<R>) {
      function(args...);
      return {};
    } else {
      return Attempt<R>{function(args...)};
    }
  }

  template <class Value>
  Reply reply_for(const Value& value, bool want_result) const {
    Reply reply;
    if constexpr (std::same_as<Value, Answer>) {
      reply.answer = value;
      if (want_result) reply.result = "null";
    } else {
      if (success_when.typed()) reply.success = success_when.template holds_for<Value>(value);
      if constexpr (kHasJson<Value>) {
        if (want_result) write_result(value, reply);
      }
    }
    return reply;
  }

  // Calls the function with stored arguments.
  Reply invoke(const std::string& payload, bool want_result) const {
    const auto arguments = decoded(payload);
    if constexpr (std::is_void_v<R>) {
      std::apply(function, arguments);
      return {.result = want_result ? "null" : ""};
    } else {
      return reply_for<R>(std::apply(function, arguments), want_result);
    }
  }

 private:
  // The function has returned: a result that cannot be written as JSON is no reason to call it again.
  template <class Value>
  static void write_result(const Value& value, Reply& reply) {
    try {
      reply.result = to_json(value);
    } catch (const JsonError& e) {
      reply.unwritable = e.what();
    }
  }

  static std::tuple<Args...> decoded(const std::string& payload) {
    try {
      return from_json<std::tuple<Args...>>(payload);
    } catch (const JsonError& e) {
      throw UndecodablePayload(std::string{"the stored arguments do not fit the handler: "} + e.what());
    }
  }
};

// Wraps any function as std::function<R(const Args&...)>: even one that is move-only, or that takes its arguments by
// value or as rvalues; it then gets copies.
template <class R, class... Args, class F>
std::function<R(const Args&...)> as_callee(F function, std::type_identity<std::tuple<Args...>>) {
  auto shared = std::make_shared<F>(std::move(function));
  return [shared](const Args&... args) -> R {
    if constexpr (std::invocable<F&, const Args&...>) {
      return (*shared)(args...);
    } else if constexpr (std::invocable<F&, Args...>) {
      return (*shared)(Args{args}...);
    } else {
      throw std::logic_error("never reached: Engine::retryable does not compile for such a function");
    }
  };
}

template <class R, class... Args, class F>
auto make_callee(F function, SuccessWhen success_when, std::type_identity<std::tuple<Args...>> types) {
  return std::make_shared<const Callee<R, Args...>>(
      Callee<R, Args...>{as_callee<R>(std::move(function), types), std::move(success_when)});
}

template <class R>
void require_fit(const std::string& name, const SuccessWhen& success_when) {
  if (!success_when.typed()) return;
  if constexpr (!std::is_void_v<R>) {
    if (success_when.takes<R>()) return;
  }
  throw std::invalid_argument("handler \"" + name + "\": success_when takes " + std::string{success_when.type_name()} +
                              ", but the handler returns " + std::string{type_name<R>()});
}

template <class R, class... Args>
class TypedCall final : public DirectCall {
 public:
  TypedCall(const Callee<R, Args...>& callee, const Args&... args) : callee_(callee), arguments_(args...) {}

  Reply run(bool want_result) override {
    value_.reset();
    thrown = nullptr;
    try {
      if constexpr (std::is_void_v<R>) {
        std::apply(callee_.function, arguments_);
        return {.result = want_result ? "null" : ""};
      } else {
        value_.emplace(std::apply(callee_.function, arguments_));
        return callee_.template reply_for<R>(*value_, want_result);
      }
    } catch (...) {
      thrown = std::current_exception();
      throw;
    }
  }

  std::string arguments() const override {
    JsonWriter payload;
    std::apply([&](const Args&... args) { write_each(payload, args...); }, arguments_);
    return payload.take();
  }

  Attempt<R> take_success() {
    if constexpr (std::is_void_v<R>) {
      return {};
    } else {
      return Attempt<R>{*std::move(value_)};
    }
  }

  Attempt<R> take_failure(AttemptState state, TaskId task, FirstFailure why) {
    if constexpr (std::is_void_v<R>) {
      return {state, task, std::move(why)};
    } else {
      if (state != AttemptState::failed) value_.reset();  // a later attempt will provide the value
      return {state, task, std::move(why), std::move(value_)};
    }
  }

 private:
  using Value = std::conditional_t<std::is_void_v<R>, std::monostate, R>;
  const Callee<R, Args...>& callee_;
  std::tuple<const Args&...> arguments_;
  std::optional<Value> value_;
};

template <class R>
R decoded_result(const std::string& result) {
  if (result.empty()) {
    throw UndecodableResult(
        "there is no result: it could not be written as JSON, the store refused it, or the task was completed without "
        "one; on_success([](const TaskInfo&) {…}) needs none");
  }
  try {
    return from_json<R>(result);
  } catch (const JsonError& e) {
    throw UndecodableResult(std::string{"the kept result does not fit on_success: "} + e.what());
  }
}

// For results that do not come from the handler.
template <class R, class F>
decltype(Handler::check_result) result_check() {
  if constexpr (!std::invocable<const F&, const TaskInfo&> && kHasValue<R> && kHasJson<R>) {
    return [](const std::string& result) { static_cast<void>(decoded_result<R>(result)); };
  } else {
    return [](const std::string&) {};
  }
}

template <class R, class F>
decltype(Handler::on_success) success_callback(F callback) {
  if constexpr (std::invocable<const F&, const TaskInfo&>) {
    return [callback = std::move(callback)](const std::string&, const TaskInfo& task) { callback(task); };
  } else {
    static_assert(kHasValue<R>,
                  "easyretry: this handler returns nothing to pass on; write on_success([](const TaskInfo&) {…})");
    static_assert(!kHasValue<R> || kHasJson<R>,
                  "easyretry: the result is kept for on_success, so its type needs a JSON conversion; add "
                  "EASYRETRY_JSON(Type, fields...), or write on_success([](const TaskInfo&) {…})");
    if constexpr (kHasValue<R> && kHasJson<R>) {
      return [callback = std::move(callback)](const std::string& result, const TaskInfo& task) {
        callback(decoded_result<R>(result), task);
      };
    } else {
      return {};
    }
  }
}

template <class R, class F>
void set_on_success(Handler& handler, F callback) {
  handler.check_result = result_check<R, F>();
  handler.on_success = success_callback<R>(std::move(callback));
}

}  // namespace easyretry::detail
#pragma GCC visibility pop
