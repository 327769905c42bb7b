#pragma once
// How many tasks were stored, how they ended, and how many are left: engine.counts().
//
// The store keeps these sums with the tasks, in the transactions that store and end them. So they are exact at every
// moment, and asking costs the same however many tasks there are.

#include <chrono>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>

#include <easyretry/task.h>

namespace easyretry {

struct Tally {
  std::int64_t stored = 0;  // a task that is requeued is stored again
  std::map<Outcome, std::int64_t> ended{};

  std::int64_t ended_in_all() const {
    return std::accumulate(ended.begin(), ended.end(), std::int64_t{0},
                           [](std::int64_t sum, const auto& entry) { return sum + entry.second; });
  }
  friend bool operator==(const Tally&, const Tally&) = default;
};

struct HandlerCounts {
  Tally total{};
  // UTC; a task may be stored on one day and end on another. Of 400 days; what is older is in `total` alone.
  std::map<std::chrono::sys_days, Tally> days{};

  std::int64_t live() const { return total.stored - total.ended_in_all(); }
  friend bool operator==(const HandlerCounts&, const HandlerCounts&) = default;
};

using Counts = std::map<std::string, HandlerCounts>;  // by the name of the handler

}  // namespace easyretry
