#pragma once
// A function that is registered with an engine. It can be called now, and stored to be run later by any instance that
// registered the same name. Copies are cheap and refer to the same handler.

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <easyretry/attempt.h>
#include <easyretry/detail/handler_host.h>
#include <easyretry/detail/signature.h>
#include <easyretry/detail/typed_call.h>
#include <easyretry/json.h>
#include <easyretry/submit.h>
#include <easyretry/task.h>

#pragma GCC visibility push(default)
namespace easyretry {

template <class R, class Arguments>
class Retryable;

namespace detail {
// A range-based for loop takes it. std::ranges would cost each file that includes this as much as <vector>.
template <class Range>
concept Iterable = requires(const Range& range) {
  std::begin(range);
  std::end(range);
};

template <class Function>
struct RetryableOf;
template <class R, class... Args>
struct RetryableOf<R(Args...)> {
  using Type = Retryable<R, std::tuple<std::decay_t<Args>...>>;
};
}  // namespace detail

// The type of a handle, for a member variable: RetryableFn<Receipt(const Order&)> pay;
template <class Function>
using RetryableFn = typename detail::RetryableOf<Function>::Type;

template <class R, class... Args>
class Retryable<R, std::tuple<Args...>> {
 public:
  using Callee = detail::Callee<R, Args...>;

  Retryable(std::weak_ptr<detail::HandlerHost> host, std::string name, std::shared_ptr<const Callee> callee,
            std::shared_ptr<const detail::CallGate> gate)
      : host_(std::move(host)), name_(std::move(name)), callee_(std::move(callee)), gate_(std::move(gate)) {}

  const std::string& name() const { return name_; }

  // A copy of this handle that uses these options for calls and submissions.
  Retryable with(const SubmitOptions& options) const {
    Retryable copy = *this;
    copy.options_ = options;
    return copy;
  }

  // The key under which a task with these arguments is stored. Pass it to a service that detects repeated requests by
  // key; it is the same from the first attempt of a direct call on.
  std::string key_of(const Args&... args) const {
    return options_.key.empty() ? host()->key_of(name_, payload_of_arguments(args...)) : options_.key;
  }

  // Calls the function now. If it fails and the failure is worth retrying, the call is stored before this returns
  // (depending on the handler's Persist). A failure that is not retried is thrown unchanged. If a failure cannot be
  // stored, throws StoreError with the failure nested in it. Inside a task, only calls the function.
  Attempt<R> operator()(const Args&... args) const {
    if (!gate_->lets_by() || !options_.key.empty()) return whole_call(args...);
    if (detail::inside_retry()) return callee_->attempt(args...);
    try {
      return callee_->attempt(args...);
    } catch (const std::exception& e) {
      return failed_call(dynamic_cast<const std::nested_exception*>(&e) == nullptr ? e.what() : nullptr, args...);
    } catch (...) {
      return failed_call(nullptr, args...);
    }
  }

  // Stores a call that failed outside the engine, such as one step of a larger operation. It is retried like a first
  // attempt that has just failed, with `why` as its error. Works everywhere, even inside a task.
  TaskId store(const Args&... args, std::string why) const {
    return host()->store(name_, {payload_of_arguments(args...), options_, Millis{0}, 1, std::move(why)});
  }

  // Stores a task for the engine to run, and returns its id. The task is durable when this returns. Throws StoreError
  // if it could not be stored, and std::invalid_argument if it is invalid.
  TaskId submit(const Args&... args) const { return submit_one(options_, Millis{0}, args...); }
  TaskId submit_after(Millis delay, const Args&... args) const {
    SubmitOptions options = options_;
    options.due_at.reset();
    return submit_one(std::move(options), delay, args...);
  }
  template <class Duration>
  TaskId submit_at(std::chrono::sys_time<Duration> due, const Args&... args) const {
    SubmitOptions options = options_;
    options.due_at = std::chrono::ceil<Millis>(due);
    return submit_one(std::move(options), Millis{0}, args...);
  }
  // Stores the task in the caller's own transaction, such as sqlite_tx(db): it exists only if that commits.
  TaskId submit(const Transaction& within, const Args&... args) const {
    return host()->submit(within, name_, one(options_, Millis{0}, args...)).front();
  }

  // Stores many tasks in few transactions. The elements are the argument, or a std::tuple if there are several.
  template <detail::Iterable Range>
  std::vector<TaskId> submit_many(const Range& range) const {
    return submit_many(range, [this](const auto&) { return options_; });
  }
  // `options_of(element)` returns the SubmitOptions of each task.
  template <detail::Iterable Range, class OptionsOf>
  std::vector<TaskId> submit_many(const Range& range, OptionsOf options_of) const {
    std::vector<detail::Submission> submissions;
    if constexpr (requires { std::size(range); }) submissions.reserve(std::size(range));
    for (const auto& element : range) {
      submissions.push_back({payload_of(element), options_of(element), Millis{0}});
    }
    return host()->submit(name_, std::move(submissions));
  }

  // Sets a callback for success: callback(result, task) or callback(task). It runs before the task is removed. If it
  // throws, only the callback is retried, so it is called at least once.
  template <class F>
  const Retryable& on_success(F callback) const {
    detail::require_callable(callback, "on_success");
    detail::Handler changes;
    detail::set_on_success<R>(changes, std::move(callback));
    host()->change(name_, std::move(changes));
    return *this;
  }

  // Sets a callback for final failure: callback(failure, task). If it throws, it is retried like on_success.
  template <class F>
  const Retryable& on_final_failure(F callback) const {
    static_assert(std::invocable<const F&, const Failure&, const TaskInfo&>,
                  "easyretry: write on_final_failure([](const Failure& failure, const TaskInfo& task) {…})");
    if constexpr (std::invocable<const F&, const Failure&, const TaskInfo&>) {
      detail::require_callable(callback, "on_final_failure");
      detail::Handler changes;
      changes.on_final_failure = std::move(callback);
      host()->change(name_, std::move(changes));
    }
    return *this;
  }

  // Sets a callback for a failed attempt that will be retried: callback(error, task); task.next_at is the time of the
  // next attempt. It is called once; exceptions are counted and otherwise ignored.
  template <class F>
  const Retryable& on_retry_scheduled(F callback) const {
    static_assert(std::invocable<const F&, const std::string&, const TaskInfo&>,
                  "easyretry: write on_retry_scheduled([](const std::string& error, const TaskInfo& task) {…})");
    if constexpr (std::invocable<const F&, const std::string&, const TaskInfo&>) {
      detail::require_callable(callback, "on_retry_scheduled");
      detail::Handler changes;
      changes.on_retry_scheduled = std::move(callback);
      host()->change(name_, std::move(changes));
    }
    return *this;
  }

 private:
  std::shared_ptr<detail::HandlerHost> host() const {
    auto host = host_.lock();
    if (!host) throw std::logic_error(detail::engine_is_gone(name_));
    return host;
  }

  Attempt<R> whole_call(const Args&... args) const {
    detail::TypedCall<R, Args...> call{*callee_, args...};
    return result_of(host()->call(name_, call, options_), call);
  }

  // Called inside a catch block.
  Attempt<R> failed_call(const char* what, const Args&... args) const {
    const auto host = host_.lock();
    if (!host) std::throw_with_nested(std::logic_error(detail::engine_is_gone(name_)));
    detail::TypedCall<R, Args...> call{*callee_, args...};
    call.thrown = std::current_exception();
    call.what = what;
    return result_of(host->call_failed(name_, call, options_), call);
  }

  static Attempt<R> result_of(detail::DirectResult result, detail::TypedCall<R, Args...>& call) {
    if (result.rethrow && call.thrown) std::rethrow_exception(call.thrown);
    if (result.state == AttemptState::succeeded) return call.take_success();
    return call.take_failure(result.state, result.task, {std::move(result.error), call.thrown});
  }

  static std::string payload_of_arguments(const Args&... args) {
    JsonWriter payload;
    detail::write_each(payload, args...);
    return payload.take();
  }

  template <class Element>
  static std::string payload_of(const Element& element) {
    if constexpr (sizeof...(Args) == 1 && (std::convertible_to<const Element&, const Args&> && ...)) {
      return to_json(std::tuple<Args...>{element});
    } else {
      return to_json(std::tuple<Args...>(element));
    }
  }

  static std::vector<detail::Submission> one(SubmitOptions options, Millis delay, const Args&... args) {
    std::vector<detail::Submission> one;
    one.push_back({payload_of_arguments(args...), std::move(options), delay});
    return one;
  }

  TaskId submit_one(SubmitOptions options, Millis delay, const Args&... args) const {
    return host()->submit(name_, one(std::move(options), delay, args...)).front();
  }

  std::weak_ptr<detail::HandlerHost> host_;
  std::string name_;
  std::shared_ptr<const Callee> callee_;
  std::shared_ptr<const detail::CallGate> gate_;
  SubmitOptions options_;
};

template <class Signature>
class RetryableTask;

// A retryable function written as a class:
//
//   class Pay : public RetryableTask<PayResult(Order)> {
//     PayResult execute(const Order& order) override { return gateway.pay(order); }
//     bool is_success(const PayResult& result) override { return result.code == 200; }
//     void on_success(const PayResult& result, const TaskInfo& task) override { … }
//     void on_final_failure(const Failure& failure, const TaskInfo& task) override { … }
//   };
//   auto pay = engine.retryable("payment.pay", std::make_shared<Pay>(), policy);
template <class R, class... Args>
class RetryableTask<R(Args...)> {
 public:
  using RetryableForm = RetryableTask;
  using Result = R;
  using Arguments = std::tuple<std::decay_t<Args>...>;

  virtual ~RetryableTask() = default;
  virtual R execute(const std::decay_t<Args>&... args) = 0;
  virtual bool is_success(const R&) { return true; }
  virtual void on_success(const R&, const TaskInfo&) {}
  virtual void on_final_failure(const Failure&, const TaskInfo&) {}
};

template <class... Args>
class RetryableTask<void(Args...)> {
 public:
  using RetryableForm = RetryableTask;
  using Result = void;
  using Arguments = std::tuple<std::decay_t<Args>...>;

  virtual ~RetryableTask() = default;
  virtual void execute(const std::decay_t<Args>&... args) = 0;
  virtual void on_success(const TaskInfo&) {}
  virtual void on_final_failure(const Failure&, const TaskInfo&) {}
};

}  // namespace easyretry
#pragma GCC visibility pop
