// A gateway is away for ten minutes. A circuit holds its tasks back, so that they keep their attempts.
#include <iostream>

#include <easyretry/testing.h>

using namespace easyretry;
using namespace std::chrono_literals;

namespace {

// 200 payments, a gateway that is away for ten minutes, and a policy that gives up after five attempts.
void live_through_an_outage(const HandlerOptions& options) {
  testing::ManualEngine engine{EngineOptions{.log = nullptr}};
  engine.on_event([&](const Event& event) {
    const bool opened = event.kind == EventKind::circuit_opened;
    if (opened || event.kind == EventKind::circuit_closed) std::cout << "  " << to_string(event.kind) << "\n";
  });
  bool away = true;
  int calls = 0;
  int paid = 0;
  auto pay = engine.retryable(
      "payment.pay",
      [&](int) {
        ++calls;
        if (away) throw std::runtime_error("gateway timeout");
        ++paid;
      },
      Policy{.backoff = Fixed{30s}, .stop = {.max_attempts = 5}}, options);
  for (int order = 0; order < 200; ++order) pay.submit(order);

  engine.drain(10min);
  std::cout << "  calls in the outage: " << (calls < 800 ? "fewer than 800" : "1000") << "\n";
  away = false;
  engine.drain(10min);
  std::cout << "  paid: " << paid << " of 200\n";
}

}  // namespace

int main() {
  std::cout << "without a circuit\n";
  live_through_an_outage({});

  std::cout << "with a circuit\n";
  HandlerOptions options;
  options.circuit = CircuitOptions{.name = "gateway"};
  live_through_an_outage(options);
}

// Prints:
// without a circuit
//   calls in the outage: 1000
//   paid: 0 of 200
// with a circuit
//   circuit opened
//   calls in the outage: fewer than 800
//   circuit closed
//   paid: 200 of 200
