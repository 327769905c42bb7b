#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <easyretry/easyretry.h>
#include <easyretry/error.h>

#include "bench/bench.h"
#include "bench/measured.h"
#include "storage/open.h"

namespace easyretry::app {
namespace {

// Runs `work` in a child process. False if it threw or the process died.
bool run_in_child(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      work();
      _exit(0);
    } catch (const std::exception& e) {
      std::cerr << "easyretry: " << e.what() << "\n";
      _exit(1);
    }
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void store_waiting(const BenchOptions& options, const std::string& name_space, const Progress& progress) {
  const auto store = storage::open_store(options.store, system_clock());
  for (std::size_t from = 0; from < options.waiting; from += options.batch) {
    progress("waiting tasks: enqueue", static_cast<double>(from) / static_cast<double>(options.waiting));
    std::vector<task::NewTask> rows(std::min(options.batch, options.waiting - from));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].name_space = name_space;
      rows[i].handler = "bench.noop";
      rows[i].key = "waiting-" + std::to_string(from + i);
      rows[i].payload = R"([{"amount":9.99,"customer":"waiting","number":0}])";
      rows[i].delay = std::chrono::hours{24} + Millis{from};
    }
    if (auto reply = store->insert(rows); !reply) throw StoreError(std::move(reply.error()));
  }
}

void remove_waiting(const BenchOptions& options, const std::string& name_space, const Progress& progress) {
  const auto store = storage::open_store(options.store, system_clock());
  storage::TaskQuery query;
  query.name_space = name_space;
  query.limit = options.batch;
  for (std::size_t done = 0; done < options.waiting; done += options.batch) {
    progress("waiting tasks: clearing", static_cast<double>(done) / static_cast<double>(options.waiting));
    const auto page = store->list(query);
    if (!page) throw StoreError(page.error());
    std::vector<task::Ending> cancelled;
    cancelled.reserve(page->size());
    for (const auto& record : *page) cancelled.push_back({.id = record.info.id});
    if (auto reply = store->end(cancelled); !reply) throw StoreError(std::move(reply.error()));
  }
}

// Tasks that are due in a day, to measure how the store and the engine cope with a backlog that they must not touch.
// They are stored, and removed by the destructor, in a child process: the reported peak of memory stays the engine's.
class WaitingTasks {
 public:
  WaitingTasks(const BenchOptions& options, const Progress& progress);
  ~WaitingTasks();
  WaitingTasks(const WaitingTasks&) = delete;
  WaitingTasks& operator=(const WaitingTasks&) = delete;

 private:
  const BenchOptions& options_;
  const Progress& progress_;
  std::string namespace_;
};

WaitingTasks::WaitingTasks(const BenchOptions& options, const Progress& progress)
    : options_(options), progress_(progress), namespace_(options.name_space) {
  if (options_.waiting == 0) return;
  if (!run_in_child([&] { store_waiting(options_, namespace_, progress_); })) {
    throw std::runtime_error("the waiting tasks could not be stored");
  }
}

WaitingTasks::~WaitingTasks() {
  if (options_.waiting == 0) return;
  if (!run_in_child([&] { remove_waiting(options_, namespace_, progress_); })) {
    std::cerr << "easyretry: waiting tasks were left in namespace " << namespace_ << "\n";
  }
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
