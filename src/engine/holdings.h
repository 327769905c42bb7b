#pragma once
// Every task this instance has claimed and not yet settled. Thread-safe.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/run.h"

namespace easyretry::engine {

class Holdings {
 public:
  void add(std::span<const RunPtr> runs);
  // Only these very runs: a task that was settled and claimed again meanwhile stays.
  void remove(std::span<const RunPtr> runs);
  RunPtr find(TaskId id) const;
  // Somebody has cancelled these: those that are here do not begin any more, nor do those whose claim is under way.
  void cancelled(std::span<const TaskId> ids);
  std::vector<RunPtr> all() const;
  // Those whose handlers run here; those elsewhere are as many as their own limits say.
  std::size_t here() const;
  std::size_t size() const;
  bool wait_none_elsewhere(Instant until);

 private:
  void interrupt_if_cancelled(Run& run) const;

  // Of claims that are under way there are a few batches.
  static constexpr std::size_t kCancelledKept = 10'000;

  mutable std::mutex mutex_;
  std::condition_variable all_here_;
  std::unordered_map<TaskId, RunPtr> runs_;  // guarded by mutex_
  std::size_t elsewhere_ = 0;                // of them; guarded by mutex_
  std::unordered_set<TaskId> cancelled_;     // lately; guarded by mutex_
  std::deque<TaskId> cancelled_first_;       // the same, by age; guarded by mutex_
};

}  // namespace easyretry::engine
