#pragma once
// The result of a direct call, `pay(order)`.
//
//   if (auto paid = pay(order)) ship(order, *paid);            // it succeeded right away
//   else if (paid.stored()) tell_customer_later(paid.task());  // it failed, is safe in the store, and will be retried

#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <easyretry/task.h>

#pragma GCC visibility push(default)
namespace easyretry {

enum class AttemptState {
  succeeded,  // has a value
  stored,     // failed and was stored: an engine retries it
  retrying,   // failed and is kept in memory: this process retries it
  failed,     // not a success under the policy, and not retried; has a value
};

std::string_view to_string(AttemptState state);

// Thrown when an attempt is asked for a value that it does not have yet.
class NoValueYet : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace detail {

struct FirstFailure {
  std::string message;
  std::exception_ptr thrown;  // null if the function returned, but its result was not a success
};

class AttemptBase {
 public:
  AttemptState state() const { return state_; }
  explicit operator bool() const { return state_ == AttemptState::succeeded; }
  bool stored() const { return state_ == AttemptState::stored; }
  // The stored task; TaskId{} if nothing was stored.
  TaskId task() const { return task_; }

  // Why the first attempt failed; empty if it succeeded.
  const std::string& error() const;
  std::exception_ptr exception() const { return why_ ? why_->thrown : nullptr; }

 protected:
  AttemptBase() = default;
  AttemptBase(AttemptState state, TaskId task, FirstFailure why);

  [[noreturn]] void no_value() const;

 private:
  AttemptState state_ = AttemptState::succeeded;
  TaskId task_{};
  std::shared_ptr<const FirstFailure> why_;
};

}  // namespace detail

template <class R>
class [[nodiscard]] Attempt : public detail::AttemptBase {
 public:
  explicit Attempt(R value) : value_(std::move(value)) {}
  Attempt(AttemptState state, TaskId task, detail::FirstFailure why, std::optional<R> value)
      : AttemptBase(state, task, std::move(why)), value_(std::move(value)) {}

  bool has_value() const { return value_.has_value(); }
  // Throws NoValueYet if there is no value.
  R& value() & {
    if (!value_) no_value();
    return *value_;
  }
  const R& value() const& {
    if (!value_) no_value();
    return *value_;
  }
  R&& value() && {
    if (!value_) no_value();
    return *std::move(value_);
  }
  R& operator*() & { return value(); }
  const R& operator*() const& { return value(); }
  R&& operator*() && { return std::move(*this).value(); }
  R* operator->() { return &value(); }
  const R* operator->() const { return &value(); }

 private:
  std::optional<R> value_;
};

template <>
class Attempt<void> : public detail::AttemptBase {
 public:
  Attempt() = default;
  Attempt(AttemptState state, TaskId task, detail::FirstFailure why) : AttemptBase(state, task, std::move(why)) {}
};

}  // namespace easyretry
#pragma GCC visibility pop
