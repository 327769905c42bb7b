// The example of the README: a payment that fails twice and then succeeds.
#include <iostream>
#include <latch>

#include <easyretry/easyretry.h>
using namespace easyretry;
using namespace std::chrono_literals;

struct Order {
  std::string id;
  double amount;
};
EASYRETRY_JSON(Order, id, amount)  // how arguments are stored

int main() {
  Engine engine{"memory:"};  // "sqlite:retry.db" keeps tasks over restarts; the same code
  std::atomic<int> calls = 0;
  std::latch paid{1};

  auto pay = engine.retryable(
      "payment.pay",
      [&](const Order&) {
        if (++calls < 3) throw std::runtime_error("gateway timeout");
        return 200;
      },
      Policy{.backoff = Exponential{.first = 10ms, .cap = 5min, .jitter = 5ms},
             .stop = {.max_attempts = 5, .max_duration = 1h},
             .success_when = "result == 200"});
  pay.on_success([&](int code, const TaskInfo& task) {
    std::cout << task.key << ": " << code << " after " << task.attempts << " attempts\n";
    paid.count_down();
  });
  pay.on_final_failure([&](const Failure& failure, const TaskInfo&) { std::cerr << failure.message << "\n"; });
  engine.start();

  pay.with({.key = "order-42"}).submit(Order{"42", 9.99});  // stored before this returns
  paid.wait();
}

// Prints:
// order-42: 200 after 3 attempts
