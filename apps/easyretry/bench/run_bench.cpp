#include <algorithm>
#include <fstream>
#include <future>
#include <mutex>

#include <easyretry/easyretry.h>

#include "bench/bench.h"
#include "bench/measured_engine.h"
#include "bench/measured_order.h"
#include "bench/stopwatch.h"
#include "bench/waiting.h"

namespace easyretry::app {
namespace {

std::vector<MeasuredOrder> orders(std::size_t from, std::size_t to) {
  std::vector<MeasuredOrder> all;
  all.reserve(to - from);
  for (std::size_t i = from; i < to; ++i) all.push_back(measured_order(static_cast<std::int64_t>(i)));
  return all;
}

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

// Orders are made in parts, so that the peak of memory is the engine's and not the benchmark's.
constexpr std::size_t kPart = 10'000;

// Only the submitting is timed.
template <class Handle>
double submit_all(const Handle& handle, const BenchOptions& options, std::string_view what, const Progress& progress) {
  const auto submitters = static_cast<std::size_t>(options.submitters);
  double seconds = 0;
  for (std::size_t from = 0; from < options.tasks; from += submitters * kPart) {
    progress(what, static_cast<double>(from) / static_cast<double>(options.tasks));
    std::vector<std::vector<MeasuredOrder>> parts;
    for (std::size_t i = 0; i < submitters; ++i) {
      const std::size_t first = std::min(options.tasks, from + i * kPart);
      parts.push_back(orders(first, std::min(options.tasks, first + kPart)));
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
  const auto all = orders(0, n);
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
  const auto noop = engine.retryable("bench.noop", [](const MeasuredOrder&) {});
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
  // Stored ahead, so that the handing in does not disturb the measurement.
  const auto first = std::chrono::ceil<Millis>(Clock::now()) + std::chrono::seconds{2} + Millis{options.tasks / 20};
  const auto step = std::chrono::duration<double>(options.due_over_seconds / static_cast<double>(options.tasks));
  for (std::size_t from = 0; from < options.tasks; from += kPart) {
    progress("lateness: enqueue", static_cast<double>(from) / static_cast<double>(options.tasks));
    due.submit_many(orders(from, std::min(options.tasks, from + kPart)), [&](const MeasuredOrder& order) {
      const auto after = std::chrono::duration_cast<Millis>(step * static_cast<double>(order.number));
      return SubmitOptions{.due_at = first + after};
    });
  }
  engine.start();
  wait_for(engine, options.tasks, "lateness", progress);
  return spread_of(std::move(late));
}

}  // namespace

Spread spread_of(std::vector<double> millis) {
  std::sort(millis.begin(), millis.end());
  const auto at = [&](double part) {
    return millis[static_cast<std::size_t>(part * static_cast<double>(millis.size() - 1))];
  };
  return {at(0.5), at(0.99), millis.back()};
}

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
