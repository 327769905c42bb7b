// Filters run around every attempt: they measure time, add context, translate exceptions, or prevent an attempt.
#include <iostream>
#include <mutex>

#include <easyretry/testing.h>

using namespace easyretry;
using namespace std::chrono_literals;

struct Unreachable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Opens for a minute after two failed attempts in a row. While it is open, attempts fail without a call.
class CircuitBreaker {
 public:
  explicit CircuitBreaker(const Clock& clock) : clock_(clock) {}

  void operator()(AttemptScope& attempt, const Proceed& proceed) {
    if (const Millis left = open_for(); left > 0ms) return attempt.answer(retry_after(left, "circuit open"));
    try {
      proceed();
    } catch (...) {
      failed();
      throw;
    }
    const std::lock_guard lock{mutex_};
    failures_ = 0;
  }

 private:
  Millis open_for() {
    const std::lock_guard lock{mutex_};
    return open_until_ - clock_.now();
  }
  void failed() {
    const std::lock_guard lock{mutex_};
    if (++failures_ % 2 == 0) open_until_ = clock_.now() + 1min;
  }

  const Clock& clock_;
  std::mutex mutex_;  // filters run on every worker's thread
  int failures_ = 0;
  TimePoint open_until_{};
};

int main() {
  testing::ManualEngine engine;
  CircuitBreaker breaker{engine.clock()};

  // The first filter is the outermost, so this one sees the results of the others.
  engine.add_filter([&](AttemptScope& attempt, const Proceed& proceed) {
    const auto report = [&, begun = engine.clock().steady()](const std::string& end) {
      const auto took = std::chrono::duration_cast<Millis>(engine.clock().steady() - begun);
      std::cout << attempt.handler() << " #" << attempt.number() << ": " << end << ", " << took.count() << " ms\n";
    };
    try {
      proceed();
    } catch (const std::exception& e) {
      report(e.what());
      throw;
    }
    report(attempt.answer() ? attempt.answer()->why : "ok");
  });
  engine.add_filter(std::ref(breaker));
  engine.add_filter([](AttemptScope& attempt, const Proceed& proceed) {
    attempt.set("tenant", attempt.task() ? attempt.task()->business_type : "none");
    proceed();
  });
  engine.add_filter([](AttemptScope&, const Proceed& proceed) {
    try {
      proceed();
    } catch (const std::system_error& e) {
      throw Unreachable(e.code().message());  // the policy sees this type
    }
  });

  int calls = 0;
  auto pay = engine.retryable(
      "pay",
      [&](const std::string& order) {
        engine.clock().advance(40ms);
        if (++calls < 3) throw std::system_error(std::make_error_code(std::errc::connection_refused));
        std::cout << "  " << order << " of tenant " << current_attempt()->value("tenant") << " is paid\n";
      },
      Policy{.backoff = Fixed{10s}, .retry_on = {type<Unreachable>()}});

  const TaskId id = pay.with({.business_type = "acme"}).submit("order-42");
  engine.drain();
  std::cout << calls << " calls, " << engine.find(id)->attempts << " attempts\n";
}

// Prints:
// pay #1: Connection refused, 40 ms
// pay #2: Connection refused, 40 ms
// pay #3: circuit open, 0 ms
//   order-42 of tenant acme is paid
// pay #4: ok, 40 ms
// 3 calls, 4 attempts
