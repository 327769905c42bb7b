#pragma once
// How late the waiting tasks of a namespace are, judged by the first few of each shard. That takes a few probes of an
// index, however many tasks are due.

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "storage/store.h"

namespace easyretry::storage {

struct Lag {
  std::map<ShardId, Millis> shards{};        // for each shard with a due task: for how long the first one has been due
  std::map<std::string, Millis> handlers{};  // the same by handler, among the tasks that were read
  bool complete = true;                      // no other task is due
};

Result<Lag> look_for_lag(Store& store, std::string_view name_space, std::size_t tasks_per_shard);

// Due tasks that no instance runs although their handler is not paused.
struct LateTasks {
  std::map<std::string, Millis> handlers{};  // for how long the first one that was found has been due
  bool complete = true;                      // false: there may be others behind very many tasks of paused handlers
};

// Looks in every shard until it finds such a task, by due time: tasks that are due later cost nothing, and tasks of
// paused handlers are passed over for as long as `longest`. Later handlers of the same shard are found among the first
// 10,000 due tasks.
Result<LateTasks> look_for_late_tasks(Store& store, std::string_view name_space,
                                      Millis longest = std::chrono::seconds{2});

}  // namespace easyretry::storage
