// How long tasks wait until they start, and the cost of an idle engine.

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <mutex>
#include <thread>

#include <easyretry/easyretry.h>

#include "bench/bench.h"
#include "bench/measured.h"

namespace easyretry::app {
namespace {

constexpr std::size_t kMostTasks = 2000;         // in the measurement of submit to start
constexpr std::chrono::seconds kUntilQuiet{15};  // after 10 s without news, an engine scans less often

// CPU time of all threads of this process.
double cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

bool can_be_shared(const std::string& store) {
  return !store.starts_with("sqlite:") && !store.starts_with("memory:");
}

}  // namespace

Spread measure_lateness(const BenchOptions& options, const Progress& progress) {
  using Clock = std::chrono::system_clock;
  std::mutex mutex;
  std::vector<double> late;
  Engine engine{options.store, engine_options(options)};
  const auto due = engine.retryable("bench.due", [&](const MeasuredOrder&) {
    const auto lateness = Clock::now() - current_task()->info.next_at;
    const std::lock_guard lock{mutex};
    late.push_back(std::chrono::duration<double, std::milli>(lateness).count());
  });
  // Stored before the first one is due, so that submitting does not disturb the measurement.
  const auto first = std::chrono::ceil<Millis>(Clock::now()) + std::chrono::seconds{2} + Millis{options.tasks / 20};
  const auto step = std::chrono::duration<double>(options.due_over_seconds / static_cast<double>(options.tasks));
  for (std::size_t from = 0; from < options.tasks; from += kOrdersPerPart) {
    progress("lateness: enqueue", static_cast<double>(from) / static_cast<double>(options.tasks));
    due.submit_many(measured_orders(from, std::min(options.tasks, from + kOrdersPerPart)),
                    [&](const MeasuredOrder& order) {
                      const auto after = std::chrono::duration_cast<Millis>(step * static_cast<double>(order.number));
                      return SubmitOptions{.due_at = first + after};
                    });
  }
  engine.start();
  wait_for(engine, options.tasks, "lateness", progress);
  return spread_of(std::move(late));
}

Spread measure_submit_to_start(const BenchOptions& options, const Progress& progress) {
  using Clock = std::chrono::steady_clock;
  using std::chrono::duration;
  const std::size_t n = std::min(options.tasks, kMostTasks);
  std::vector<Clock::time_point> submitted(n);
  std::vector<double> took(n);
  Engine runner{options.store, engine_options(options)};
  const auto run = runner.retryable("bench.start", [&](const MeasuredOrder& order) {
    const auto number = static_cast<std::size_t>(order.number);
    took[number] = duration<double, std::milli>(Clock::now() - submitted[number]).count();
  });
  std::unique_ptr<Engine> other;
  if (can_be_shared(options.store)) other = std::make_unique<Engine>(options.store, engine_options(options));
  const auto submit = other ? other->retryable("bench.start", [](const MeasuredOrder&) {}) : run;
  runner.start();

  const auto began = Clock::now() + std::chrono::seconds{1};  // the first scans are over
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 100 == 0) progress("submit to start", static_cast<double>(i) / static_cast<double>(n));
    const duration<double> after{static_cast<double>(i) / options.submit_rate};
    std::this_thread::sleep_until(began + std::chrono::duration_cast<Clock::duration>(after));
    submitted[i] = Clock::now();
    submit.submit(measured_order(static_cast<std::int64_t>(i)));
  }
  wait_for(runner, n, "submit to start", progress);
  return spread_of(std::move(took));
}

double measure_idle(const BenchOptions& options, const Progress& progress) {
  Engine engine{options.store, engine_options(options)};
  const auto noop = engine.retryable(
      "bench.noop", [](const MeasuredOrder&) {}, {}, noop_options(options));
  progress("idle: waiting for quiet", 0);
  engine.start();
  std::this_thread::sleep_for(kUntilQuiet);
  progress("idle", 0);
  const Stopwatch watch;
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::duration<double>{options.idle_seconds});
  const double used = cpu_seconds() - before;
  const double seconds = watch.seconds();
  progress("idle: over", 1);
  return 1000 * used / seconds;
}

}  // namespace easyretry::app
