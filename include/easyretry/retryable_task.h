#pragma once
// A retryable function written as a class:
//
//   class Pay : public RetryableTask<PayResult(Order)> {
//     PayResult execute(const Order& order) override { return gateway.pay(order); }
//     bool is_success(const PayResult& result) override { return result.code == 200; }
//     void on_success(const PayResult& result, const TaskInfo& task) override { … }
//     void on_final_failure(const Failure& failure, const TaskInfo& task) override { … }
//   };
//   auto pay = engine.retryable("payment.pay", std::make_shared<Pay>(), policy);

#include <tuple>

#include <easyretry/task.h>

#pragma GCC visibility push(default)
namespace easyretry {

template <class Signature>
class RetryableTask;

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
