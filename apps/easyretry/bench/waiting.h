#pragma once
// Tasks that are due in a day, to measure how a store and the engine bear a backlog they must not look at.

#include <string>

#include "bench/bench.h"

namespace easyretry::app {

class WaitingTasks {
 public:
  // Both happen in a process of their own: the peak of memory that is reported stays the engine's.
  WaitingTasks(const BenchOptions& options, const Progress& progress);
  ~WaitingTasks();
  WaitingTasks(const WaitingTasks&) = delete;
  WaitingTasks& operator=(const WaitingTasks&) = delete;

 private:
  const BenchOptions& options_;
  const Progress& progress_;
  std::string space_;
};

}  // namespace easyretry::app
