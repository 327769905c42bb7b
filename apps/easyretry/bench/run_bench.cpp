#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <thread>
#include <vector>

#include <easyretry/easyretry.h>

#include "bench/bench.h"
#include "bench/measured.h"

namespace easyretry::app {
namespace {

// Peak resident memory of this process, from /proc.
double peak_rss_mib() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    double kib = 0;
    status >> kib;
    return kib / 1024;
  }
  return 0;
}

// Tasks per second; only submitting is timed, not creating the orders.
template <class Handle>
double submit_all(const Handle& handle, const BenchOptions& options, std::string_view what, const Progress& progress) {
  const auto submitters = static_cast<std::size_t>(options.submitters);
  double seconds = 0;
  for (std::size_t from = 0; from < options.tasks; from += submitters * kOrdersPerPart) {
    progress(what, static_cast<double>(from) / static_cast<double>(options.tasks));
    std::vector<std::vector<MeasuredOrder>> parts;
    for (std::size_t i = 0; i < submitters; ++i) {
      const std::size_t first = std::min(options.tasks, from + i * kOrdersPerPart);
      parts.push_back(measured_orders(first, std::min(options.tasks, first + kOrdersPerPart)));
    }
    const Stopwatch watch;
    std::vector<std::future<void>> submitting;
    submitting.reserve(parts.size());
    for (const auto& part : parts) {
      submitting.push_back(std::async(std::launch::async, [&] { handle.submit_many(part); }));
    }
    for (std::future<void>& one : submitting) one.get();
    seconds += watch.seconds();
  }
  return static_cast<double>(options.tasks) / seconds;
}

double measure_single(const BenchOptions& options, const Progress& progress) {
  Engine engine{options.store, engine_options(options)};
  const auto noop = engine.retryable("bench.single", [](const MeasuredOrder&) {});
  const std::size_t n = std::clamp<std::size_t>(options.tasks / 10, 1, 20'000);
  const auto all = measured_orders(0, n);
  const Stopwatch watch;
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 1000 == 0) progress("enqueue, one at a time", static_cast<double>(i) / static_cast<double>(n));
    noop.submit(all[i]);
  }
  const double rate = watch.per_second(n);
  engine.start();
  wait_for(engine, n, "enqueue, one at a time: clearing", progress);
  return rate;
}

void measure_drain(const BenchOptions& options, const Progress& progress, Rates& rates) {
  Engine engine{options.store, engine_options(options)};
  const auto noop = engine.retryable(
      "bench.noop", [](const MeasuredOrder&) {}, {}, noop_options(options));
  rates.enqueue_batch = submit_all(noop, options, "enqueue in batches", progress);
  const Stopwatch drain;
  engine.start();
  wait_for(engine, options.tasks, "drain", progress);
  rates.drain = drain.per_second(options.tasks);
}

double measure_cycle(const BenchOptions& options, const Progress& progress) {
  using namespace std::chrono_literals;
  Engine engine{options.store, engine_options(options)};
  const auto once = engine.retryable("bench.fail_first", [](const MeasuredOrder&) {
    return current_task()->info.attempts == 1 ? retry_after(0ms) : done();
  });
  submit_all(once, options, "fail first: enqueue", progress);
  const Stopwatch watch;
  engine.start();
  wait_for(engine, options.tasks, "fail first, then succeed", progress);
  return watch.per_second(options.tasks);
}

struct Unreachable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Simulates the moment when a backend fails: every caller fails, each on its own thread, and every failure must be
// stored as a task.
double measure_failing_calls(const BenchOptions& options, const Progress& progress) {
  using namespace std::chrono_literals;
  const ScratchStore store{options.store, ".calls"};
  Engine engine{store.url(), engine_options(options)};
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

}  // namespace

BenchReport run_bench(const BenchOptions& options, const Progress& progress) {
  const WaitingTasks waiting{options, progress};
  BenchReport report;
  if (options.raw) report.raw = measure_raw(options, progress);
  measure_drain(options, progress, report.engine);
  report.enqueue_single = measure_single(options, progress);
  if (options.fail_first) report.engine.cycle = measure_cycle(options, progress);
  if (options.callers > 0) report.failing_calls = measure_failing_calls(options, progress);
  if (options.submit_rate > 0) report.submit_to_start = measure_submit_to_start(options, progress);
  if (options.due_over_seconds > 0) report.lateness = measure_lateness(options, progress);
  if (options.idle_seconds > 0) report.idle_cpu = measure_idle(options, progress);
  report.rss_mib = peak_rss_mib();
  return report;
}

}  // namespace easyretry::app
