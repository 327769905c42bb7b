// Numbers of tasks and of outcomes, for a dashboard. The store keeps them, so no rows have to be counted.

#include <iostream>

#include <easyretry/testing.h>

using namespace easyretry;
using namespace std::chrono_literals;

int main() {
  testing::ManualEngine engine;
  auto pay = engine.retryable("payment.pay", [](int order) { return order == 3 ? give_up("no such order") : done(); });
  for (const int order : {1, 2, 3}) pay.submit(order);
  engine.run_due();
  engine.clock().advance(24h);
  pay.submit_after(1h, 4);

  for (const auto& [handler, counts] : engine.counts()) {
    std::cout << handler << ": " << counts.live() << " to be done, " << counts.total.stored << " stored\n";
    for (const auto& [outcome, tasks] : counts.total.ended)
      std::cout << "  " << to_string(outcome) << " " << tasks << "\n";
    for (const auto& [day, tally] : counts.days) {
      const std::chrono::year_month_day date{day};
      std::cout << "  " << static_cast<unsigned>(date.month()) << "/" << static_cast<unsigned>(date.day()) << ": "
                << tally.stored << " stored, " << tally.ended_in_all() << " ended\n";
    }
  }
}

// Prints:
// payment.pay: 1 to be done, 4 stored
//   succeeded 2
//   rejected 1
//   1/1: 3 stored, 3 ended
//   1/2: 1 stored, 0 ended
