#pragma once
// Shared by the measurements: the task that they run, a stopwatch, the engine and the store that they measure.

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/engine.h>
#include <easyretry/json.h>

#include "bench/bench.h"

namespace easyretry::app {

// The arguments of the measured tasks: about 100 bytes, each different.
struct MeasuredOrder {
  std::int64_t number = 0;
  std::string customer;
  double amount = 0;
};
EASYRETRY_JSON(MeasuredOrder, number, customer, amount)

MeasuredOrder measured_order(std::int64_t number);
std::vector<MeasuredOrder> measured_orders(std::size_t from, std::size_t to);

// Orders are created in parts of this size, so that the engine causes the peak of memory, not the benchmark.
inline constexpr std::size_t kOrdersPerPart = 10'000;

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }
  double per_second(std::size_t n) const { return static_cast<double>(n) / seconds(); }

 private:
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

Spread spread_of(std::vector<double> millis);

EngineOptions engine_options(const BenchOptions& options);
// The options of the handler that does nothing.
HandlerOptions noop_options(const BenchOptions& options);

// Returns when that many tasks have succeeded. The polling interval, 2 ms, is part of the measurement.
void wait_for(const Engine& engine, std::size_t succeeded, std::string_view what, const Progress& progress);

// An empty store like the measured one: for SQLite a second file beside it, removed at the end. The url of another
// store is unchanged.
class ScratchStore {
 public:
  ScratchStore(const std::string& url, const std::string& suffix);
  ~ScratchStore() { remove(); }
  ScratchStore(const ScratchStore&) = delete;
  ScratchStore& operator=(const ScratchStore&) = delete;

  const std::string& url() const { return url_; }

 private:
  void remove() const;

  std::string url_;
  std::string file_;  // empty: nothing to remove
};

}  // namespace easyretry::app
