#pragma once
// A function that was registered with an engine: callable now, and by name later, on any instance that registered the
// same name. Copies are cheap and stand for the same handler.

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <easyretry/attempt.h>
#include <easyretry/handler.h>
#include <easyretry/json.h>
#include <easyretry/signature.h>
#include <easyretry/submit.h>
#include <easyretry/transaction.h>
#include <easyretry/typed_call.h>

namespace easyretry {

namespace detail {

struct DirectResult {
  AttemptState state = AttemptState::succeeded;
  TaskId task{};
  std::string error{};
  bool rethrow = false;  // what the function threw is for the caller
};

// What a handle needs of its engine.
class HandlerHost {
 public:
  virtual ~HandlerHost() = default;
  virtual std::vector<TaskId> submit(const std::string& handler, std::vector<Submission> submissions) = 0;
  virtual std::vector<TaskId> submit(const Transaction& within, const std::string& handler,
                                     std::vector<Submission> submissions) = 0;
  // Runs the call as the handler's strategy says; inside a retry it is only run, and judged.
  virtual DirectResult call(const std::string& handler, DirectCall& call, const SubmitOptions& options) = 0;
  // The same from the moment where it has been run, with nothing around it, and has thrown.
  virtual DirectResult call_failed(const std::string& handler, DirectCall& call, const SubmitOptions& options) = 0;
  // Stores what the caller found to have failed.
  virtual TaskId store(const std::string& handler, Submission failed) = 0;
  virtual std::string key_of(const std::string& handler, const std::string& payload) = 0;
  // The callbacks of `changes` that are set replace the handler's.
  virtual void change(const std::string& handler, Handler changes) = 0;
};

inline std::string engine_is_gone(const std::string& handler) {
  return "easyretry: the engine of handler \"" + handler + "\" is gone";
}

// This thread is inside a task or a retry: calls go straight through, so that a retry never makes a retry of itself.
bool inside_retry();

}  // namespace detail

template <class R, class Arguments>
class Retryable;

namespace detail {
template <class Function>
struct RetryableOf;
template <class R, class... Args>
struct RetryableOf<R(Args...)> {
  using Type = Retryable<R, std::tuple<std::decay_t<Args>...>>;
};
}  // namespace detail

// The handle of a function, to be kept as a member: RetryableFn<Receipt(const Order&)> pay;
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

  // A handle whose calls and submissions carry these options.
  Retryable with(const SubmitOptions& options) const {
    Retryable copy = *this;
    copy.options_ = options;
    return copy;
  }

  // The key under which a task with these arguments is stored: for a callee that knows a repeated request by it, from
  // the first attempt of a direct call on.
  std::string key_of(const Args&... args) const {
    return options_.key.empty() ? host()->key_of(name_, payload_of_arguments(args...)) : options_.key;
  }

  // Calls the function here and now. What fails and is worth retrying is safe in the store before this returns (as the
  // handler's Persist says); what is not to be retried is thrown as it was. If a failure could not be stored,
  // StoreError is thrown with the failure nested in it. Inside a task the function is only called.
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

  // Stores a call that the caller found to have failed, say a step in the middle of something larger: it is retried
  // like a first attempt that failed just now, with `why` as its error. Works everywhere, also inside a task.
  TaskId store(const Args&... args, std::string why) const {
    return host()->store(name_, {payload_of_arguments(args...), options_, Millis{0}, 1, std::move(why)});
  }

  // Stores a task and returns its id; the engine runs it. When this returns, the task is safe. Throws StoreError if
  // it could not be stored, std::invalid_argument if it must not be.
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
  // As part of the caller's own transaction, such as sqlite_tx(db): stored if it commits, gone if it rolls back.
  TaskId submit(const Transaction& within, const Args&... args) const {
    return host()->submit(within, name_, one(options_, Millis{0}, args...)).front();
  }

  // Many tasks in few transactions. The range holds the argument, or std::tuples where there are several.
  template <std::ranges::input_range Range>
  std::vector<TaskId> submit_many(const Range& range) const {
    return submit_many(range, [this](const auto&) { return options_; });
  }
  // `options_of(element)` gives each task its own SubmitOptions.
  template <std::ranges::input_range Range, class OptionsOf>
  std::vector<TaskId> submit_many(const Range& range, OptionsOf options_of) const {
    std::vector<detail::Submission> submissions;
    if constexpr (std::ranges::sized_range<Range>) submissions.reserve(std::ranges::size(range));
    for (const auto& element : range) {
      submissions.push_back({payload_of(element), options_of(element), Millis{0}});
    }
    return host()->submit(name_, std::move(submissions));
  }

  // Called once the handler has succeeded, before the task is removed: callback(result, task), or callback(task).
  // If it throws, it alone is retried, so it is called at least once.
  template <class F>
  const Retryable& on_success(F callback) const {
    detail::require_callable(callback, "on_success");
    detail::Handler changes;
    changes.on_success = detail::success_callback<R>(std::move(callback));
    host()->change(name_, std::move(changes));
    return *this;
  }

  // Called when the task has ended without success: callback(failure, task). Retried alone like on_success.
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

  // Called when an attempt has failed and another will follow: callback(error, task); task.next_at says when. Called
  // once; what it throws is counted and changes nothing.
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

}  // namespace easyretry
