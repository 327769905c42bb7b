// Testing an application's retries without waiting: the manual engine runs on a clock that only you move.
#include <iostream>

#include <easyretry/testing.h>

using namespace easyretry;
using namespace std::chrono_literals;

int main() {
  testing::ManualEngine engine;
  int calls = 0;
  auto notify = engine.retryable(
      "notify",
      [&](const std::string& whom) {
        std::cout << "attempt " << ++calls << " to reach " << whom << "\n";
        return calls < 3 ? retry_later("line busy") : done();
      },
      Policy{.backoff = Ladder{5s, 30s}});

  const TaskId id = notify.submit("alice");
  engine.run_due();  // the first attempt
  std::cout << "next in " << (engine.find(id)->next_at - engine.clock().now()).count() << " ms\n";

  engine.clock().advance(4999ms);
  std::cout << engine.run_due() << " executions: too early\n";
  engine.clock().advance(1ms);
  engine.run_due();  // the second
  engine.drain();    // moves the clock to the remaining tasks
  std::cout << to_string(*engine.find(id)->outcome) << " after " << engine.find(id)->attempts << " attempts\n";
}

// Prints:
// attempt 1 to reach alice
// next in 5000 ms
// 0 executions: too early
// attempt 2 to reach alice
// attempt 3 to reach alice
// succeeded after 3 attempts
