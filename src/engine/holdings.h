#pragma once
// Every task this instance has claimed and not yet settled. Thread-safe.

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
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<TaskId, RunPtr> runs_;  // guarded by mutex_
};

}  // namespace easyretry::engine
