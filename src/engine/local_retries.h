#pragma once
// Persist::never in the background: tasks that exist in this process only. They have the same life cycle as stored ones
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

#include "engine/context.h"
#include "engine/workers.h"

namespace easyretry::engine {

class LocalRetries : public std::enable_shared_from_this<LocalRetries> {
 public:
  LocalRetries(Context& context, InFlight& in_flight, Workers& workers)
      : context_(context), in_flight_(in_flight), workers_(workers) {}

  // Ids of local tasks are negative, which no store uses.
  static bool is_local(TaskId id) { return static_cast<std::int64_t>(id) < 0; }

  // An id for a task that is about to be added, or the reason why there is no room.
  tl::expected<TaskId, std::string> reserve();
  void add(TaskId reserved, const task::NewTask& task);
  std::optional<task::TaskRecord> find(TaskId id) const;
  bool end(const task::Ending& ending);
  std::optional<TimePoint> next_due() const;

  Step step();
  // Starts nothing from now on, and counts what was still waiting as lost.
  void stop();
  // The engine is about to be destroyed: outcomes of handlers that return later are ignored.
  void close();

  Wakeup wakeup;

 private:
  // Call these two under mutex_
  void schedule(const task::TaskRecord& record);
  void release(const task::Ticket& ticket);

  std::vector<task::TaskRecord> take_due(TimePoint now);
  void start(const task::TaskRecord& record);
  void settled(const task::Settlement& settlement);

  Context& context_;
  InFlight& in_flight_;
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
