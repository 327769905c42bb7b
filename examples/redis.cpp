// Tasks in Redis, and what a failover may lose.
//
//   redis redis://user:password@host:6379/0      or with the URL in REDIS_URL
#include <cstdlib>
#include <iostream>
#include <thread>

#include <easyretry/easyretry.h>

using namespace easyretry;
using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const char* url = argc > 1 ? argv[1] : std::getenv("REDIS_URL");
  if (url == nullptr) {
    std::cerr << "usage: redis redis://user:password@host:6379/0\n";
    return 2;
  }
  const std::string store = std::string{url} + "?prefix=example";

  // The first line says what an acknowledged task survives with the settings of the server.
  EngineOptions options;
  options.log = [](LogLevel, std::string_view line) { std::clog << line << "\n"; };
  Engine engine{store, options};
  int refusals = 2;
  auto pay = engine.retryable(
      "payment.pay",
      [&](const std::string& order) {
        if (refusals-- > 0) throw std::runtime_error("bank busy");
        std::cout << order << " is paid\n";
      },
      Policy{.backoff = Fixed{10ms}});
  engine.start();
  const TaskId task = pay.submit("order-1");
  while (engine.stats().succeeded < 1) std::this_thread::sleep_for(1ms);
  std::cout << engine.find(task)->attempts << " attempts\n";

  // Redis answers before its replicas have a write. When a replica takes over, tasks that were acknowledged in the last
  // moments may be lost, and tasks that ended in the last moments may be live again, and run again. With wait=1, a call
  // returns when a replica has the write, too. If none confirms it in time, the result is in doubt: the primary has the
  // write, but it may be lost with the primary. You can submit it again: there is one live task per key.
  Engine careful{store + "&wait=1&wait_ms=50"};
  auto pay_carefully = careful.retryable("payment.pay", [](const std::string&) {});
  try {
    pay_carefully.submit_after(1s, "order-2");
    std::cout << "a replica has order-2\n";
  } catch (const StoreError& error) {
    if (error.code() != Errc::in_doubt) throw;
    std::cout << "no replica has order-2 yet\n";
  }
  while (engine.stats().succeeded < 2) std::this_thread::sleep_for(1ms);
}

// Prints:
// order-1 is paid
// 3 attempts
// no replica has order-2 yet
// order-2 is paid
