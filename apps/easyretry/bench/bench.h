#pragma once
// What `easyretry bench` measures. Every figure comes from real tasks in the real store; nothing is left in it but
// history.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/options.h>

namespace easyretry::app {

struct BenchOptions {
  std::string store;
  std::string space;  // a namespace of its own: a store in use is neither seen nor disturbed
  std::size_t tasks = 100'000;
  int workers = 4;
  int submitters = 2;  // threads that hand in batches
  std::size_t batch = EngineOptions{}.batch;
  bool fail_first = false;
  double due_over_seconds = 0;
  double submit_rate = 0;   // tasks a second that are submitted one by one, to see how soon they start; 0: none
  std::size_t waiting = 0;  // tasks in the store that are not due
  double idle_seconds = 0;  // for which an engine that has nothing to do is watched; 0: not
  int callers = 0;          // threads whose direct calls fail; 0: none
  bool raw = false;
};

// Milliseconds until a handler starts.
struct Spread {
  double p50 = 0, p99 = 0, max = 0;
};
Spread spread_of(std::vector<double> millis);

struct Rates {
  double enqueue_batch = 0;  // tasks a second
  double drain = 0;
  std::optional<double> cycle;
};

struct BenchReport {
  double enqueue_single = 0;
  Rates engine;
  std::optional<double> failing_calls;    // a second, of all callers
  std::optional<Spread> lateness;         // from when it is due
  std::optional<Spread> submit_to_start;  // from before it is stored
  std::optional<double> idle_cpu;         // ms of processor time a second
  std::optional<Rates> raw;
  double rss_mib = 0;
};

// Says what is going on and how far it is, 0 to 1.
using Progress = std::function<void(std::string_view what, double part)>;

BenchReport run_bench(const BenchOptions& options, const Progress& progress);

// Threads that call a wrapped function which fails, so that each call stores a task of its own.
double measure_failing_calls(const BenchOptions& options, const Progress& progress);

// Tasks submitted at an even pace. Where a store can be shared, by another engine than the one that runs them.
Spread measure_submit_to_start(const BenchOptions& options, const Progress& progress);

// What an engine of which no task is due costs this process: milliseconds of processor time a second, once it has
// found out that nothing comes.
double measure_idle(const BenchOptions& options, const Progress& progress);

// The same rows, the same batches, the same kind of store, but nothing except its statements in a bare loop on one
// thread.
Rates measure_raw(const BenchOptions& options, const Progress& progress);

}  // namespace easyretry::app
