#pragma once
// The finished executions on their way to the Settler. Thread-safe. Shared with the worker threads: one that hangs
// in a handler past the end of the engine still has somewhere to put its result.

#include <condition_variable>
#include <mutex>
#include <vector>

#include "engine/bell.h"
#include "engine/run.h"

namespace easyretry::engine {

class Outcomes {
 public:
  // Rings when the first one has come in, and again when there are so many.
  explicit Outcomes(std::size_t batch) : batch_(batch) {}

  struct Item {
    RunPtr run;
    task::Settlement settlement;
  };

  void put(RunPtr run, task::Settlement settlement);
  // Appends what has come in to `pending`, which belongs to the Settler; it is idle when that is empty.
  void take(std::vector<Item>& pending);
  std::size_t size() const;
  // Everything put has been settled.
  bool wait_idle(Instant until);

  Bell bell;

 private:
  const std::size_t batch_;
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::vector<Item> inbox_;  // guarded by mutex_
  bool pending_ = false;     // guarded by mutex_
};

}  // namespace easyretry::engine
