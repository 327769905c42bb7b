// Callbacks of a handler, and events of the whole engine.
#include <iostream>

#include <easyretry/testing.h>

using namespace easyretry;
using namespace std::chrono_literals;

int main() {
  std::vector<std::string> audit;  // filled by a separate thread, complete when the engine is gone
  {
    testing::ManualEngine engine{EngineOptions{.log = nullptr}};
    engine.on_event([](const Event& event) { std::cout << "  event: " << to_string(event.kind) << "\n"; });
    engine.on_event([&](const Event& event) { audit.emplace_back(to_string(event.kind)); }, Delivery::queued);

    int calls = 0;
    auto pay = engine.retryable(
        "payment.pay",
        [&](const std::string& order) {
          std::cout << "pay " << order << "\n";
          if (++calls < 3) throw std::runtime_error("gateway timeout");
          return 200;
        },
        Policy{.backoff = Fixed{10s}});

    int told = 0;
    pay.on_success([&](int code, const TaskInfo& task) {
      std::cout << "on_success: " << code << " after " << task.attempts << " attempts\n";
      if (++told == 1) throw std::runtime_error("the ledger is locked");  // only this callback is tried again
    });
    pay.on_retry_scheduled([&](const std::string& error, const TaskInfo& task) {
      const auto wait = std::chrono::duration_cast<std::chrono::seconds>(task.next_at - engine.clock().now());
      std::cout << "on_retry_scheduled: " << error << ", again in " << wait.count() << " s\n";
    });
    pay.submit("order-42");
    engine.drain();
    std::cout << "paid " << calls - 2 << " time, told " << told << " times\n\n";

    auto refund = engine.retryable("payment.refund", [](const std::string&) { return give_up("no such payment"); });
    refund.on_final_failure([](const Failure& failure, const TaskInfo& task) {
      std::cout << "on_final_failure: " << to_string(failure.outcome) << " of " << task.business_id << ", "
                << failure.message << "\n";
    });
    refund.with({.business_id = "order-43"}).submit("order-43");
    engine.drain();
  }
  std::cout << "\nthe queued listener heard " << audit.size() << " events, the last one: " << audit.back() << "\n";
}

// Prints:
//   event: stored
//   event: claimed
// pay order-42
//   event: attempt failed
// on_retry_scheduled: gateway timeout, again in 10 s
//   event: retry scheduled
//   event: claimed
// pay order-42
//   event: attempt failed
// on_retry_scheduled: gateway timeout, again in 10 s
//   event: retry scheduled
//   event: claimed
// pay order-42
// on_success: 200 after 3 attempts
//   event: callback failed
//   event: claimed
// on_success: 200 after 3 attempts
//   event: succeeded
// paid 1 time, told 2 times
//
//   event: stored
//   event: claimed
//   event: attempt failed
//   event: claimed
// on_final_failure: rejected of order-43, no such payment
//   event: gave up
//
// the queued listener heard 16 events, the last one: gave up
