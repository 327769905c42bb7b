// The process that is stopped inside a handler: stopped_worker STORE_URL done|give_up FILE
//
// Runs the one task of the store. Its handler prints "started FENCE", waits until FILE exists, and answers. When the
// outcome is written, or refused, the process prints "settled" or "stale" and ends.

#include <filesystem>
#include <iostream>

#include <easyretry/easyretry.h>

#include "support/eventually.h"

using namespace easyretry;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::hours kUntilKilled{1};  // by the test, if that is broken

Answer work(const std::string& answer, const std::filesystem::path& signal) {
  std::cout << "started " << current_task()->info.version << std::endl;
  test::eventually([&] { return std::filesystem::exists(signal); }, kUntilKilled);
  return answer == "done" ? done() : give_up("too late");
}

std::string settled(const Engine& engine) {
  Stats stats;
  test::eventually(
      [&] {
        stats = engine.stats();
        return stats.stale_settles + stats.succeeded + stats.rejected > 0;
      },
      kUntilKilled);
  return stats.stale_settles > 0 ? "stale" : "settled";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: stopped_worker STORE_URL done|give_up FILE\n";
    return 2;
  }
  EngineOptions options;
  options.lease = 1s;
  options.window = 200ms;
  Engine engine{argv[1], options};
  engine.retryable("work", [answer = std::string{argv[2]}, signal = std::filesystem::path{argv[3]}] {
    return work(answer, signal);
  });
  engine.start();
  std::cout << settled(engine) << std::endl;
  return 0;
}
