#pragma once
// How many tasks were stored, how they ended, and how many are live: engine.counts().
//
// The store updates these counts in the same transactions that store and end tasks. So they are always exact, and
// reading them costs the same no matter how many tasks there are.

#include <chrono>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>

#include <easyretry/task.h>

namespace easyretry {

struct Tally {
  std::int64_t stored = 0;  // a requeued task counts again
  std::map<Outcome, std::int64_t> ended{};

  std::int64_t ended_in_all() const {
    return std::accumulate(ended.begin(), ended.end(), std::int64_t{0},
                           [](std::int64_t sum, const auto& entry) { return sum + entry.second; });
  }
  friend bool operator==(const Tally&, const Tally&) = default;
};

struct HandlerCounts {
  Tally total{};
  // UTC days; a task may be stored on one day and end on another. Kept for 400 days; older counts are only in `total`.
  std::map<std::chrono::sys_days, Tally> days{};

  std::int64_t live() const { return total.stored - total.ended_in_all(); }
  friend bool operator==(const HandlerCounts&, const HandlerCounts&) = default;
};

using Counts = std::map<std::string, HandlerCounts>;  // by handler name

}  // namespace easyretry
