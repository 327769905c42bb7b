#include <atomic>
#include <thread>
#include <vector>

#include <easyretry/easyretry.h>

#include "bench/bench.h"
#include "bench/measured_engine.h"
#include "bench/measured_order.h"
#include "bench/stopwatch.h"
#include "bench/store_beside.h"

namespace easyretry::app {
namespace {

class Unreachable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace

// The moment a backend goes away: every caller fails, each in a thread of its own, and every failure has to be stored.
double measure_failing_calls(const BenchOptions& options, const Progress& progress) {
  using namespace std::chrono_literals;
  const StoreBeside beside{options.store, ".calls"};
  Engine engine{beside.url(), engine_options(options)};
  std::atomic<bool> down{true};
  const auto call = engine.retryable(
      "bench.failing",
      [&](const MeasuredOrder&) {
        if (down) throw Unreachable("no route to host");
      },
      Policy{.backoff = Fixed{1s}});

  std::atomic<std::size_t> next{0};
  const auto calls = [&](int caller) {
    for (std::size_t i = next++; i < options.tasks; i = next++) {
      if (caller == 0) progress("failing calls", static_cast<double>(i) / static_cast<double>(options.tasks));
      if (!call(measured_order(static_cast<std::int64_t>(i))).stored())
        throw std::logic_error("a failure was not stored");
    }
  };
  const Stopwatch watch;
  {
    std::vector<std::jthread> callers;
    callers.reserve(static_cast<std::size_t>(options.callers));
    for (int i = 0; i < options.callers; ++i) callers.emplace_back(calls, i);
  }
  const double rate = watch.per_second(options.tasks);

  down = false;
  engine.start();
  wait_for(engine, options.tasks, "failing calls: clearing", progress);
  return rate;
}

}  // namespace easyretry::app
