// A busy gateway refuses two of five calls. A budget keeps retries from making it busier.
#include <iostream>

#include <easyretry/testing.h>

using namespace easyretry;
using namespace std::chrono_literals;

namespace {

// 20 payments a second for two minutes, while the gateway refuses two of five calls. Then it works again.
void live_through_a_busy_time(const HandlerOptions& options) {
  testing::ManualEngine engine{EngineOptions{.log = nullptr}};
  bool busy = true;
  int calls = 0;
  int retries = 0;
  int paid = 0;
  auto pay = engine.retryable(
      "payment.pay",
      [&](int) {
        ++calls;
        if (current_task()->info.attempts > 1) ++retries;
        if (busy && calls % 5 < 2) throw std::runtime_error("503");
        ++paid;
      },
      Policy{.backoff = Fixed{1s}, .stop = {.max_attempts = 20}}, options);

  for (int tenth = 0; tenth < 1200; ++tenth) {
    pay.submit(2 * tenth);
    pay.submit(2 * tenth + 1);
    engine.clock().advance(100ms);
    engine.run_due();
  }
  std::cout << "  of 100 calls, retries: " << 100 * retries / calls << "\n";
  busy = false;
  engine.drain(10min);
  std::cout << "  paid: " << paid << " of 2400\n";
}

}  // namespace

int main() {
  std::cout << "without a budget\n";
  live_through_a_busy_time({});

  std::cout << "with a budget\n";
  HandlerOptions options;
  options.circuit = CircuitOptions{.name = "gateway", .retries_at_most = 0.2};
  live_through_a_busy_time(options);
}

// Prints:
// without a budget
//   of 100 calls, retries: 39
//   paid: 2400 of 2400
// with a budget
//   of 100 calls, retries: 23
//   paid: 2400 of 2400
