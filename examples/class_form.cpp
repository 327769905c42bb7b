// The class form: one object has the call, the check of its result, and the callbacks.
#include <iostream>

#include <easyretry/testing.h>

using namespace easyretry;
using namespace std::chrono_literals;

struct Order {
  std::string id;
  int cents = 0;
};
EASYRETRY_JSON(Order, id, cents)

struct PayResult {
  int code = 0;
};
EASYRETRY_JSON(PayResult, code)

class Pay : public RetryableTask<PayResult(Order)> {
 public:
  PayResult execute(const Order& order) override {
    std::cout << "call " << ++calls_ << " for " << order.id << "\n";
    if (calls_ == 1) throw std::runtime_error("timeout");
    return {calls_ == 2 ? 503 : 200};
  }
  bool is_success(const PayResult& result) override { return result.code == 200; }
  void on_success(const PayResult& result, const TaskInfo& task) override {
    std::cout << "paid: " << result.code << " after " << task.attempts << " attempts\n";
  }
  void on_final_failure(const Failure& failure, const TaskInfo&) override {
    std::cout << "not paid: " << failure.message << "\n";
  }

 private:
  int calls_ = 0;
};

class Notify : public RetryableTask<void(std::string)> {
 public:
  void execute(const std::string& whom) override { throw std::runtime_error(whom + " does not answer"); }
  void on_final_failure(const Failure& failure, const TaskInfo&) override {
    std::cout << "given up: " << failure.message << "\n";
  }
};

int main() {
  testing::ManualEngine engine;  // in an application: Engine engine{"sqlite:retry.db"}; … engine.start();
  auto pay = engine.retryable("payment.pay", std::make_shared<Pay>(), Policy{.backoff = Fixed{10s}});
  auto notify = engine.retryable("notify", std::make_shared<Notify>(), Policy{.stop = {.max_attempts = 2}});

  if (!pay(Order{"order-42", 999})) std::cout << "stored, to be tried again\n";
  engine.drain();

  notify.submit("alice");
  engine.drain();
}

// Prints:
// call 1 for order-42
// stored, to be tried again
// call 2 for order-42
// call 3 for order-42
// paid: 200 after 3 attempts
// given up: alice does not answer (2 attempts made (max_attempts = 2))
