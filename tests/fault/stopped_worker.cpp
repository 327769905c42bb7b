// The process that is stopped inside a handler: stopped_worker STORE_URL done|give_up FILE
//
// Works on the one task of the store. Its handler prints "started FENCE", waits until FILE is there, and answers. When
// that is written, or refused, the process prints "settled" or "stale" and ends.

#include <filesystem>
#include <iostream>
#include <thread>

#include <easyretry/easyretry.h>

using namespace easyretry;
using namespace std::chrono_literals;

namespace {

Answer work(const std::string& answer, const std::filesystem::path& signal) {
  std::cout << "started " << current_task()->info.version << std::endl;
  while (!std::filesystem::exists(signal)) std::this_thread::sleep_for(5ms);
  return answer == "done" ? done() : give_up("too late");
}

std::string settled(const Engine& engine) {
  while (true) {
    const Stats stats = engine.stats();
    if (stats.stale_settles > 0) return "stale";
    if (stats.succeeded + stats.rejected > 0) return "settled";
    std::this_thread::sleep_for(5ms);
  }
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
