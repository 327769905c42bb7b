#include "storage/lag.h"

#include <algorithm>

#include "task/task_id.h"

namespace easyretry::storage {

Result<Lag> look_for_lag(Store& store, std::string_view space, std::size_t tasks_a_shard) {
  const int total = store.info().total_shards;
  std::vector<ShardCursor> all;
  all.reserve(static_cast<std::size_t>(total));
  for (int shard = 0; shard < total; ++shard) all.push_back({.shard = static_cast<ShardId>(shard)});
  const auto due = store.load({.space = space, .from = all, .limit = tasks_a_shard});
  if (!due) return tl::make_unexpected(due.error());
  Lag lag{.complete = due->more.empty() && !due->trouble};
  for (const DueTask& task : due->tasks) {
    const Millis late = due->now - task.due;
    Millis& of_shard = lag.shards[task::shard_of(task.id, total)];
    Millis& of_handler = lag.handlers[due->handlers[task.handler]];
    of_shard = std::max(of_shard, late);
    of_handler = std::max(of_handler, late);
  }
  return lag;
}

}  // namespace easyretry::storage
