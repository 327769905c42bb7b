#pragma once
// The measurements of `easyretry bench`. Every figure comes from real tasks in the real store; only their history is
// left in it.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <easyretry/options.h>

namespace easyretry::app {

struct BenchOptions {
  std::string store;
  std::string name_space;  // a separate namespace, so that a store in use is not disturbed
  std::size_t tasks = 100'000;
  int workers = 4;
  int submitters = 2;  // threads that submit batches
  std::size_t batch = EngineOptions{}.batch;
  bool fail_first = false;
  double due_over_seconds = 0;
  double submit_rate = 0;   // tasks per second that are submitted one by one, to see how soon they start; 0: none
  std::size_t waiting = 0;  // tasks in the store that are not due
  double idle_seconds = 0;  // for which an idle engine is measured; 0: not measured
  int callers = 0;          // threads whose direct calls fail; 0: none
  bool circuit = false;     // of the handler that is drained, and of the idle one
  bool raw = false;
};

// Milliseconds until a handler starts.
struct Spread {
  double p50 = 0, p99 = 0, max = 0;
};

// Tasks per second.
struct Rates {
  double enqueue_batch = 0;
  double drain = 0;
  std::optional<double> cycle;
};

struct BenchReport {
  double enqueue_single = 0;
  Rates engine;
  std::optional<double> failing_calls;    // per second, for all callers
  std::optional<Spread> lateness;         // since the task was due
  std::optional<Spread> submit_to_start;  // since before the task was stored
  std::optional<double> idle_cpu;         // ms of CPU time per second
  std::optional<Rates> raw;
  double rss_mib = 0;
};

// Reports the current step and how much of it is done, 0 to 1.
using Progress = std::function<void(std::string_view what, double part)>;

BenchReport run_bench(const BenchOptions& options, const Progress& progress);

// Measures how late tasks start that are due evenly over a period.
Spread measure_lateness(const BenchOptions& options, const Progress& progress);

// Tasks submitted at an even pace. If instances can share the store, a second engine submits them, not the one that
// runs them.
Spread measure_submit_to_start(const BenchOptions& options, const Progress& progress);

// The cost of an engine without due tasks: milliseconds of CPU time of this process per second, once the engine has
// slowed down its scans.
double measure_idle(const BenchOptions& options, const Progress& progress);

// The same rows and batches in the same kind of store, but with only the store's statements in a loop on one thread.
Rates measure_raw(const BenchOptions& options, const Progress& progress);

}  // namespace easyretry::app
