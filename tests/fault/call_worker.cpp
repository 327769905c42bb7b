// The process that is killed inside a call: call_worker STORE_URL
//
// Calls pay("order-7", 1250) with Persist::always, prints the task's id from inside of it, and does not come back. The
// engine has no threads, so it is the call itself that runs.

#include <iostream>

#include <unistd.h>

#include <easyretry/easyretry.h>

using namespace easyretry;
using namespace std::chrono_literals;

namespace {

void pay(const std::string&, int) {
  std::cout << to_string(current_task()->info.id) << std::endl;
  while (true) pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: call_worker STORE_URL\n";
    return 2;
  }
  EngineOptions options;
  options.lease = 1s;
  Engine engine{argv[1], options};
  static_cast<void>(engine.retryable("pay", pay, {}, {.persist = Persist::always})("order-7", 1250));
  return 1;
}
