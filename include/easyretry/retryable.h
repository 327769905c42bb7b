#pragma once
// A function that was registered with an engine: callable by name later, on any instance that registered the same
// name. Copies are cheap and stand for the same handler.

#include <concepts>
#include <functional>
#include <memory>
#include <ranges>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <easyretry/handler.h>
#include <easyretry/json.h>

namespace easyretry {

// What a task is known by, besides its arguments.
struct SubmitOptions {
  // One live task per key: submitting the same key again returns the task that is there. Empty: the handler's name
  // and a hash of the arguments.
  std::string key{};
  std::string business_type{};  // both are indexed for search, and tasks of one business_id share a shard
  std::string business_id{};
  std::optional<TimePoint> deadline{};  // instead of the policy's
  std::optional<TimePoint> due_at{};    // not before; submit_at and submit_after say it for one task
};

namespace detail {

struct Submission {
  std::string payload;
  SubmitOptions options;
  Millis delay{0};  // where options.due_at says nothing
};

// What a handle needs of its engine.
class HandlerHost {
 public:
  virtual ~HandlerHost() = default;
  virtual std::vector<TaskId> submit(const std::string& handler, std::vector<Submission> submissions) = 0;
  virtual void set_on_success(const std::string& handler, decltype(Handler::on_success) callback) = 0;
  virtual void set_on_final_failure(const std::string& handler, decltype(Handler::on_final_failure) callback) = 0;
};

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Result = R;
  using Arguments = std::tuple<std::decay_t<A>...>;
};
template <class R, class... A>
struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const noexcept> : Signature<R (*)(A...)> {};

template <class T>
inline constexpr bool kHasJson = JsonConvertible<T>;

// Turns stored arguments into a call, and what it returns into a Reply.
template <class Arguments, class R, class F>
Reply call_with(F& function, const std::string& payload, bool want_result) {
  Arguments arguments = [&] {
    try {
      return from_json<Arguments>(payload);
    } catch (const JsonError& e) {
      throw UndecodablePayload(std::string{"the stored arguments do not fit the handler: "} + e.what());
    }
  }();
  if constexpr (std::is_void_v<R>) {
    std::apply(function, std::move(arguments));
    return {std::nullopt, want_result ? "null" : ""};
  } else if constexpr (std::same_as<R, Answer>) {
    return {std::apply(function, std::move(arguments)), want_result ? "null" : ""};
  } else if constexpr (kHasJson<R>) {
    const R result = std::apply(function, std::move(arguments));
    return {std::nullopt, want_result ? to_json(result) : ""};
  } else {
    static_cast<void>(std::apply(function, std::move(arguments)));
    return {};
  }
}

}  // namespace detail

template <class R, class Arguments>
class Retryable;

template <class R, class... Args>
class Retryable<R, std::tuple<Args...>> {
 public:
  Retryable(std::weak_ptr<detail::HandlerHost> host, std::string name)
      : host_(std::move(host)), name_(std::move(name)) {}

  const std::string& name() const { return name_; }

  // A handle whose submissions carry these options.
  Retryable with(const SubmitOptions& options) const {
    Retryable copy = *this;
    copy.options_ = options;
    return copy;
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
    host()->set_on_success(name_, [callback = std::move(callback)](const std::string& result, const TaskInfo& task) {
      static_cast<void>(result);
      if constexpr (std::invocable<const F&, const TaskInfo&>) {
        callback(task);
      } else {
        static_assert(!std::is_void_v<R> && !std::same_as<R, Answer>,
                      "easyretry: this handler returns nothing to pass on; write on_success([](const TaskInfo&) {…})");
        if constexpr (!std::is_void_v<R> && !std::same_as<R, Answer>) callback(from_json<R>(result), task);
      }
    });
    return *this;
  }

  // Called when the task has ended without success: callback(failure, task). Retried alone like on_success.
  template <class F>
  requires std::invocable<const F&, const Failure&, const TaskInfo&>
  const Retryable& on_final_failure(F callback) const {
    host()->set_on_final_failure(name_, std::move(callback));
    return *this;
  }

 private:
  std::shared_ptr<detail::HandlerHost> host() const {
    auto host = host_.lock();
    if (!host) throw std::logic_error("easyretry: the engine of handler \"" + name_ + "\" is gone");
    return host;
  }

  template <class Element>
  static std::string payload_of(const Element& element) {
    if constexpr (sizeof...(Args) == 1 && (std::convertible_to<const Element&, const Args&> && ...)) {
      return to_json(std::tuple<Args...>{element});
    } else {
      return to_json(std::tuple<Args...>(element));
    }
  }

  TaskId submit_one(SubmitOptions options, Millis delay, const Args&... args) const {
    std::vector<detail::Submission> one;
    JsonWriter payload;
    detail::write_each(payload, args...);
    one.push_back({payload.take(), std::move(options), delay});
    return host()->submit(name_, std::move(one)).front();
  }

  std::weak_ptr<detail::HandlerHost> host_;
  std::string name_;
  SubmitOptions options_;
};

}  // namespace easyretry
