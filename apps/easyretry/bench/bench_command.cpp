#include <filesystem>
#include <iostream>
#include <random>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "bench/bench.h"
#include "commands.h"
#include "storage/open.h"

namespace easyretry::app {
namespace {

using nlohmann::json;

json spread(const std::optional<Spread>& value) {
  return value ? json{{"p50", value->p50}, {"p99", value->p99}, {"max", value->max}} : json(nullptr);
}

json number(const std::optional<double>& value) {
  return value ? json(*value) : json(nullptr);
}

// One object with all figures; null for figures that were not requested. Scripts rely on these names.
json report_json(const BenchReport& r) {
  json j;
  j["enqueue_single_per_s"] = r.enqueue_single;
  j["enqueue_batch_per_s"] = r.engine.enqueue_batch;
  j["drain_per_s"] = r.engine.drain;
  j["cycle_per_s"] = number(r.engine.cycle);
  j["failing_calls_per_s"] = number(r.failing_calls);
  j["lateness_ms"] = spread(r.lateness);
  j["submit_to_start_ms"] = spread(r.submit_to_start);
  j["idle_cpu_ms_per_s"] = number(r.idle_cpu);
  j["rss_mib"] = r.rss_mib;
  j["raw"] = nullptr;
  j["ratio"] = nullptr;
  if (r.raw) {
    j["raw"] = {{"enqueue_batch_per_s", r.raw->enqueue_batch},
                {"drain_per_s", r.raw->drain},
                {"cycle_per_s", number(r.raw->cycle)}};
    j["ratio"] = {{"enqueue_batch", r.engine.enqueue_batch / r.raw->enqueue_batch},
                  {"drain", r.engine.drain / r.raw->drain},
                  {"cycle", r.raw->cycle ? json(*r.engine.cycle / *r.raw->cycle) : json(nullptr)}};
  }
  return j;
}

void print_row(const char* what, double rate, std::optional<double> raw) {
  std::cout << fmt::format("{:<28}{:>12.0f} /s", what, rate);
  if (raw) std::cout << fmt::format("{:>12.0f} /s{:>8.2f}", *raw, rate / *raw);
  std::cout << "\n";
}

void print_spread(const char* what, const Spread& ms) {
  std::cout << fmt::format("{:<28}p50 {:.2f} ms   p99 {:.2f} ms   max {:.2f} ms\n", what, ms.p50, ms.p99, ms.max);
}

void print_table(const BenchReport& r) {
  const auto raw = [&](auto member) -> std::optional<double> {
    if (!r.raw) return std::nullopt;
    return (*r.raw).*member;
  };
  std::cout << fmt::format("{:<28}{:>15}", "", "EasyRetry") << (r.raw ? "    store alone   ratio" : "") << "\n";
  print_row("enqueue, one at a time", r.enqueue_single, std::nullopt);
  print_row("enqueue in batches", r.engine.enqueue_batch, raw(&Rates::enqueue_batch));
  print_row("drain", r.engine.drain, raw(&Rates::drain));
  if (r.engine.cycle) print_row("fail once, then succeed", *r.engine.cycle, r.raw ? r.raw->cycle : std::nullopt);
  if (r.failing_calls) {
    print_row("calls that fail and are stored", *r.failing_calls, std::nullopt);
    std::cout << fmt::format("{:<28}{:>12.2f} of enqueue in batches\n", "", *r.failing_calls / r.engine.enqueue_batch);
  }
  if (r.lateness) print_spread("lateness", *r.lateness);
  if (r.submit_to_start) print_spread("submit to start", *r.submit_to_start);
  if (r.idle_cpu) std::cout << fmt::format("{:<28}{:>12.2f} ms of CPU time per second\n", "idle", *r.idle_cpu);
  std::cout << fmt::format("{:<28}{:>12.1f} MiB\n", "peak memory", r.rss_mib);
}

// On a terminal one line that is redrawn; otherwise one line per step.
Progress progress_to_stderr() {
  return [terminal = isatty(STDERR_FILENO) != 0, last = std::string{}](std::string_view what, double part) mutable {
    if (terminal) {
      std::cerr << fmt::format("\r\x1b[K{} {:3.0f} %", what, 100 * part) << std::flush;
    } else if (last != what) {
      std::cerr << what << "…\n";
      last = what;
    }
  };
}

// Without --store: a SQLite store in a temporary folder, removed at the end.
class TemporaryStore {
 public:
  explicit TemporaryStore(BenchOptions& options) {
    if (!options.store.empty()) return;
    std::string name = (std::filesystem::temp_directory_path() / "easyretry-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create a temporary folder like " + name);
    folder_ = name;
    options.store = "sqlite:" + name + "/bench.db";
  }
  ~TemporaryStore() {
    std::error_code ignored;  // a leftover temporary folder is not a reason to fail
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  TemporaryStore(const TemporaryStore&) = delete;
  TemporaryStore& operator=(const TemporaryStore&) = delete;

 private:
  std::filesystem::path folder_;
};

void run(BenchOptions options, bool as_json) {
  const TemporaryStore store{options};
  options.name_space = "bench-" + std::to_string(std::random_device{}());
  std::cerr << to_string(storage::open_store(options.store, system_clock())->info()) << "\n";
  const BenchReport report = run_bench(options, progress_to_stderr());
  if (isatty(STDERR_FILENO) != 0) std::cerr << "\r\x1b[K";
  if (as_json) {
    std::cout << report_json(report).dump() << "\n";
  } else {
    print_table(report);
  }
}

}  // namespace

void add_bench_command(CLI::App& app) {
  auto* command = app.add_subcommand("bench", "Measures a store and the engine on it, with tasks that do nothing");
  auto options = std::make_shared<BenchOptions>();
  auto as_json = std::make_shared<bool>(false);
  command->add_option("--store", options->store, "Store to measure (default: SQLite in a temporary folder)");
  command->add_option("--tasks", options->tasks, "Tasks per measurement")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  command->add_option("--submitters", options->submitters, "Threads that submit batches")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--workers", options->workers, "Worker threads")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--batch", options->batch, "Rows per store call")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command->add_flag("--fail-first", options->fail_first,
                    "Also: every task fails once and succeeds on the second attempt");
  command
      ->add_option("--due-over", options->due_over_seconds, "Also: lateness of tasks due evenly over this many seconds")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--submit-rate", options->submit_rate,
                   "Also: delay from submit to start, at this many tasks per second")
      ->check(CLI::PositiveNumber);
  command->add_option("--waiting", options->waiting, "With this many tasks in the store that are not due")
      ->check(CLI::Range(0, 100'000'000));
  command
      ->add_option("--idle", options->idle_seconds, "Also: CPU time of an idle engine, measured for this many seconds")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--callers", options->callers, "Also: direct calls that fail and are stored, on this many threads")
      ->check(CLI::Range(1, 4096));
  command->add_flag("--circuit", options->circuit, "With a circuit, which stays closed, for drain and --idle");
  command->add_flag("--raw", options->raw, "Also: the store alone, its statements in a loop without an engine");
  command->add_flag("--json", *as_json, "One JSON object instead of a table");
  command->callback([options, as_json] { run(*options, *as_json); });
}

}  // namespace easyretry::app
