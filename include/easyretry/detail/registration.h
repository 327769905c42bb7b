#pragma once
// Turns the function, member function or RetryableTask given to Engine::retryable into a Handler, or into a single
// compiler error that says what to do.

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <easyretry/detail/erased_handler.h>
#include <easyretry/detail/signature.h>
#include <easyretry/detail/typed_call.h>
#include <easyretry/options.h>
#include <easyretry/policy.h>
#include <easyretry/task.h>

#pragma GCC visibility push(default)
namespace easyretry {
template <class F>
struct Opaque;
}

namespace easyretry::detail {

// The types of a function, or a single error message about them.
template <class F, bool known = HasOneSignature<F>>
struct TypesOf : Signature<F> {
  static_assert(!Signature<F>::kChangesArguments,
                "easyretry: this handler takes a non-const reference; arguments are stored as values, so take them by "
                "value or const&");
  static_assert(!std::is_reference_v<typename Signature<F>::Result>,
                "easyretry: this handler returns a reference; return a value, which may outlive the call");
};
template <class F>
struct TypesOf<F, false> {
  static_assert(HasOneSignature<F>,
                "easyretry: the types of the arguments are not known; pass a function or a lambda whose parameters "
                "have types, without auto or overloads; pass a RetryableTask as std::make_shared<Task>()");
  using Result = void;
  using Arguments = std::tuple<>;
};

template <class F>
inline constexpr bool kIsOpaque = false;
template <class F>
inline constexpr bool kIsOpaque<Opaque<F>> = true;

template <class F>
inline constexpr bool kIsMethod = std::is_member_function_pointer_v<F>;
template <class F>
inline constexpr bool kIsMethod<Opaque<F>> = std::is_member_function_pointer_v<F>;
template <class F>
concept IsMethod = kIsMethod<F>;
template <class T>
concept IsObject = !std::same_as<T, Policy> && !std::same_as<T, HandlerOptions>;

template <class F>
inline constexpr bool kIsTask = false;
template <class T>
requires requires {
  typename T::RetryableForm;
}
inline constexpr bool kIsTask<std::shared_ptr<T>> = true;

template <class R, class Arguments>
struct Registration;
template <class R, class... Args>
struct Registration<R, std::tuple<Args...>> {
  Handler handler;
  std::shared_ptr<const Callee<R, Args...>> callee;
};

// The result must have a JSON conversion if a policy is given, because its success_when may be an expression.
template <class R>
constexpr void require_visible_result() {
  static_assert(!kHasValue<R> || kHasJson<R>,
                "easyretry: the result of this handler has no JSON conversion, so policy.success_when could not see "
                "it; add EASYRETRY_JSON(Type, fields...) beside its type, or write retryable(name, opaque(function), "
                "policy) if no expression reads it");
}

template <class M, class Object>
auto bound(const std::string& name, M method, Object object) {
  static_assert(std::is_pointer_v<Object> || kIsShared<Object> || kIsReference<Object>,
                "easyretry: the object of a member function is not copied; give its address, std::ref or a "
                "shared_ptr: retryable(name, &Type::method, &object)");
  require_callable(object, "handler \"" + name + "\": the object of the member function");
  require_callable(method, "handler \"" + name + "\": the member function");
  return [method, object = std::move(object)]<class... A>(const A&... args) ->
         typename TypesOf<M>::Result { return std::invoke(method, object, args...); };
}

template <class Types, class F>
auto function_registration(std::string name, F function, const Policy& policy, const HandlerOptions& options,
                           SuccessWhen is_success = {}) {
  using Result = typename Types::Result;
  using Arguments = typename Types::Arguments;
  static_assert(kHasJson<Arguments>,
                "easyretry: a parameter of this handler has no JSON conversion; add EASYRETRY_JSON(Type, fields...) "
                "beside its type, and take text as std::string");
  require_callable(function, "handler \"" + name + "\": the function");
  Handler handler{std::move(name), policy, options};
  require_fit<Result>(handler.name, handler.policy.success_when);
  is_success = is_success.and_also(handler.policy.success_when);
  handler.judges_result = is_success.typed();
  auto callee = make_callee<Result>(std::move(function), is_success, std::type_identity<Arguments>{});
  handler.returns_answer = std::same_as<Result, Answer>;
  handler.returns_value = kHasValue<Result>;
  handler.no_expression_because = no_expression_because<Result>();
  handler.invoke = [callee](const std::string& payload, bool want_result) {
    return callee->invoke(payload, want_result);
  };
  return Registration<Result, Arguments>{std::move(handler), std::move(callee)};
}

// Its overrides may be private: they are called through the base class.
template <class T>
auto task_registration(std::string name, std::shared_ptr<T> object, const Policy& policy,
                       const HandlerOptions& options) {
  using Result = typename T::Result;
  static_assert(!kHasValue<Result> || kHasJson<Result>,
                "easyretry: on_success of this RetryableTask is given its result, which has no JSON conversion; add "
                "EASYRETRY_JSON(Type, fields...) beside its type");
  require_callable(object, "handler \"" + name + "\": the task");
  const std::shared_ptr<typename T::RetryableForm> task = std::move(object);
  SuccessWhen is_success;
  if constexpr (kHasValue<Result>) is_success = [task](const Result& r) { return task->is_success(r); };
  auto registration = function_registration<typename T::RetryableForm>(
      std::move(name), [task]<class... A>(const A&... args) -> Result { return task->execute(args...); }, policy,
      options, std::move(is_success));
  Handler& handler = registration.handler;
  if constexpr (std::is_void_v<Result>) {
    set_on_success<Result>(handler, [task](const TaskInfo& info) { task->on_success(info); });
  } else if constexpr (std::same_as<Result, Answer>) {
    set_on_success<Result>(handler, [task](const TaskInfo& info) { task->on_success(done(), info); });
  } else if constexpr (kHasJson<Result>) {
    set_on_success<Result>(handler,
                           [task](const Result& result, const TaskInfo& info) { task->on_success(result, info); });
  }
  handler.on_final_failure = [task](const Failure& failure, const TaskInfo& info) {
    task->on_final_failure(failure, info);
  };
  return registration;
}

// `judged`: a policy is given, so its success_when may read the result.
template <bool judged, class F>
auto registration(std::string name, F function, const Policy& policy, const HandlerOptions& options) {
  if constexpr (kIsOpaque<F>) {
    return registration<false>(std::move(name), std::move(function.function), policy, options);
  } else if constexpr (kIsTask<F>) {
    return task_registration(std::move(name), std::move(function), policy, options);
  } else {
    static_assert(!std::is_member_function_pointer_v<F>,
                  "easyretry: a member function needs its object; write retryable(name, &Type::method, &object)");
    using Types = TypesOf<F>;
    if constexpr (judged) require_visible_result<typename Types::Result>();
    return function_registration<Types>(std::move(name), std::move(function), policy, options);
  }
}

template <bool judged, class M, class Object>
auto method_registration(std::string name, M method, Object object, const Policy& policy,
                         const HandlerOptions& options) {
  if constexpr (kIsOpaque<M>) {
    return method_registration<false>(std::move(name), method.function, std::move(object), policy, options);
  } else {
    using Types = TypesOf<M>;
    if constexpr (judged) require_visible_result<typename Types::Result>();
    auto function = bound(name, method, std::move(object));
    return function_registration<Types>(std::move(name), std::move(function), policy, options);
  }
}

template <std::size_t misplaced>
constexpr void require_policy_first() {
  static_assert(misplaced == 0,
                "easyretry: the policy comes before the options: retryable(name, function, policy, options)");
}

}  // namespace easyretry::detail
#pragma GCC visibility pop
