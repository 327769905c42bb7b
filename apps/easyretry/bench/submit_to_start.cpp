#include <algorithm>
#include <memory>
#include <thread>

#include <easyretry/easyretry.h>

#include "bench/bench.h"
#include "bench/measured_engine.h"
#include "bench/measured_order.h"

namespace easyretry::app {
namespace {

constexpr std::size_t kMostTasks = 2000;

bool can_be_shared(const std::string& store) {
  return !store.starts_with("sqlite:") && !store.starts_with("memory:");
}

}  // namespace

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

}  // namespace easyretry::app
