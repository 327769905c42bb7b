#include <chrono>
#include <ctime>
#include <thread>

#include <easyretry/easyretry.h>

#include "bench/bench.h"
#include "bench/measured_engine.h"
#include "bench/measured_order.h"
#include "bench/stopwatch.h"

namespace easyretry::app {
namespace {

// An engine looks less often after 10 s without news.
constexpr std::chrono::seconds kUntilQuiet{15};

// Of all threads of this process.
double processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

}  // namespace

double measure_idle(const BenchOptions& options, const Progress& progress) {
  Engine engine{options.store, engine_options(options)};
  const auto noop = engine.retryable("bench.noop", [](const MeasuredOrder&) {});
  progress("idle: waiting for quiet", 0);
  engine.start();
  std::this_thread::sleep_for(kUntilQuiet);
  progress("idle", 0);
  const Stopwatch watch;
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::duration<double>{options.idle_seconds});
  const double used = processor_seconds() - before;
  const double seconds = watch.seconds();
  progress("idle: over", 1);
  return 1000 * used / seconds;
}

}  // namespace easyretry::app
