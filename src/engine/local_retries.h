#pragma once
// Persist::never in the background: tasks that live in this process alone. They go through the same life as stored ones
// (task/transitions.h) and run on the same workers; only the store is missing. Lost with the process.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "engine/bell.h"
#include "engine/context.h"
#include "engine/holdings.h"
#include "engine/step.h"
#include "engine/workers.h"

namespace easyretry::engine {

class LocalRetries : public std::enable_shared_from_this<LocalRetries> {
 public:
  LocalRetries(Context& context, Holdings& holdings, Workers& workers)
      : context_(context), holdings_(holdings), workers_(workers) {}

  // Ids of local tasks are negative, so no store has them.
  static bool is_local(TaskId id) { return static_cast<std::int64_t>(id) < 0; }

  // A place for a task that is to be add()ed, or why there is none.
  tl::expected<TaskId, std::string> reserve();
  void add(TaskId reserved, const task::NewTask& task);
  std::optional<TaskInfo> find(TaskId id) const;
  bool cancel(TaskId id);
  std::optional<TimePoint> next_due() const;

  Step step();
  // Takes nothing up any more, and counts what was still waiting as lost.
  void stop();
  // The engine is going: handlers that come back later find nobody.
  void close();

  Bell bell;

 private:
  // Under mutex_
  void schedule(const task::TaskRecord& record);
  void release(const task::Ticket& ticket);

  std::vector<task::TaskRecord> take_due(TimePoint now);
  void start(const task::TaskRecord& record);
  void settled(const task::Settlement& settlement);

  Context& context_;
  Holdings& holdings_;
  Workers& workers_;

  mutable std::mutex mutex_;
  std::map<TaskId, task::TaskRecord> tasks_;    // guarded by mutex_
  std::set<std::pair<TimePoint, TaskId>> due_;  // the pending ones; guarded by mutex_
  std::int64_t last_id_ = 0;                    // guarded by mutex_
  std::size_t reserved_ = 0;                    // guarded by mutex_
  bool stopped_ = false;                        // guarded by mutex_
  bool closed_ = false;                         // guarded by mutex_
};

}  // namespace easyretry::engine
