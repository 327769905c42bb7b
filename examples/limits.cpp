// A gateway takes two calls at a time, and a mail server two mails per second: limits hold for all instances together.
#include <iostream>

#include <easyretry/testing.h>

using namespace easyretry;
using namespace std::chrono_literals;

int main() {
  testing::ManualEngine engine{EngineOptions{.log = nullptr}};

  HandlerOptions two_at_a_time;
  two_at_a_time.limit = LimitOptions{.running = 2};
  auto pay = engine.retryable(
      "payment.pay", [](int) {}, Policy{}, two_at_a_time);

  HandlerOptions two_per_second;
  two_per_second.limit = LimitOptions{.per_second = 2, .burst = 4};
  int sent = 0;
  auto mail = engine.retryable(
      "mail.send", [&](int) { ++sent; }, Policy{}, two_per_second);

  for (int order = 0; order < 20; ++order) {
    pay.submit(order);
    mail.submit(order);
  }
  engine.run_due();
  std::cout << "mails at once: " << sent << "\n";
  for (int second = 1; second <= 4; ++second) {
    engine.clock().advance(1s);
    engine.run_due();
    std::cout << "after " << second << " s: " << sent << "\n";
  }
  for (const LimitInfo& limit : engine.limits()) {
    std::cout << limit.subject << (limit.holds_since ? " holds tasks back" : " holds nothing back") << "\n";
  }

  // At run time, on all instances: the smaller one of both counts.
  engine.set_limit("handler mail.send", LimitOptions{.running = 0}, "the mail server moves");
  engine.clock().advance(10s);
  engine.run_due();
  std::cout << "while it moves: " << sent << "\n";
  engine.reset_limit("handler mail.send");

  engine.drain(1min);
  std::cout << "in the end: " << sent << "\n";
}

// Prints:
// mails at once: 4
// after 1 s: 6
// after 2 s: 8
// after 3 s: 10
// after 4 s: 12
// handler mail.send holds tasks back
// handler payment.pay holds nothing back
// while it moves: 12
// in the end: 20
