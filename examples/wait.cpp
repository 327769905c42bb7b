// Waiting for a task and its result, and finding a task by its key.
#include <iostream>

#include <easyretry/easyretry.h>

using namespace easyretry;
using namespace std::chrono_literals;

struct Receipt {
  std::string number;
  int cents = 0;
};
EASYRETRY_JSON(Receipt, number, cents)

int main() {
  Engine engine{"memory:", EngineOptions{.log = nullptr}};
  int calls = 0;
  auto pay = engine.retryable(
      "payment.pay",
      [&](const std::string& order, int cents) {
        if (++calls == 1) throw std::runtime_error("gateway timeout");
        return Receipt{"r-" + order, cents};
      },
      Policy{.backoff = Fixed{20ms}}, HandlerOptions{.keep_results = 24h * 7});
  engine.start();

  const TaskId id = pay.with({.key = "order 42"}).submit("42", 1999);
  const Waited paid = engine.wait(id, 10s);
  if (paid.succeeded()) {
    const auto receipt = paid.result_as<Receipt>();
    std::cout << receipt.number << ": " << receipt.cents << " cents, " << paid.task->attempts << " attempts\n";
  }

  const TaskId late = pay.with({.key = "order 43"}).submit_after(1h, "43", 100);
  std::cout << "order 43: " << to_string(engine.wait(late, 50ms).end) << "\n";
  engine.cancel("payment.pay", "order 43");

  for (const char* key : {"order 42", "order 43", "order 44"}) {
    const auto task = engine.find("payment.pay", key);
    std::cout << key << ": " << (task ? to_string(*task->outcome) : "unknown") << "\n";
  }
}

// Prints:
// r-42: 1999 cents, 2 attempts
// order 43: timeout
// order 42: succeeded
// order 43: cancelled
// order 44: unknown
