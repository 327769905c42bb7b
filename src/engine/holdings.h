#pragma once
// Every task this instance has claimed and not yet settled. Thread-safe.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/run.h"

namespace easyretry::engine {

class Holdings {
 public:
  void add(std::span<const RunPtr> runs);
  // Only these very runs: a task that was settled and claimed again meanwhile stays.
  void remove(std::span<const RunPtr> runs);
  RunPtr find(TaskId id) const;
  std::vector<RunPtr> all() const;
  // Those whose handlers run here; those elsewhere are as many as their own limits say.
  std::size_t here() const;
  std::size_t size() const;
  bool wait_none_elsewhere(Instant until);

 private:
  mutable std::mutex mutex_;
  std::condition_variable all_here_;
  std::unordered_map<TaskId, RunPtr> runs_;  // guarded by mutex_
  std::size_t elsewhere_ = 0;                // of them; guarded by mutex_
};

}  // namespace easyretry::engine
