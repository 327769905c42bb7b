#include "storage/lag.h"

#include <algorithm>
#include <functional>
#include <set>

#include "task/task_id.h"

namespace easyretry::storage {
namespace {

constexpr std::size_t kFirstLook = 16;   // tasks a shard: usually enough
constexpr std::size_t kNextLooks = 250;  // for shards that begin with tasks of paused handlers
// A backlog of many tasks is not read to its end only to name all of its handlers.
constexpr std::size_t kReadForNames = 10'000;

std::vector<ShardCursor> all_shards(const Store& store) {
  std::vector<ShardCursor> all;
  const int total = store.info().total_shards;
  all.reserve(static_cast<std::size_t>(total));
  for (int shard = 0; shard < total; ++shard) all.push_back({.shard = static_cast<ShardId>(shard)});
  return all;
}

}  // namespace

Result<Lag> look_for_lag(Store& store, std::string_view name_space, std::size_t tasks_per_shard) {
  const int total = store.info().total_shards;
  const std::vector<ShardCursor> all = all_shards(store);
  const auto due = store.load({.name_space = name_space, .from = all, .limit = tasks_per_shard});
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

Result<LateTasks> look_for_late_tasks(Store& store, std::string_view name_space, Millis longest) {
  const auto until = std::chrono::steady_clock::now() + longest;
  const auto paused = store.paused(name_space);
  if (!paused) return tl::make_unexpected(paused.error());
  std::set<std::string, std::less<>> on_purpose;
  for (const PausedHandler& one : paused->handlers) on_purpose.insert(one.handler);

  const int total = store.info().total_shards;
  LateTasks late;
  std::set<ShardId> found;
  std::size_t seen = 0;
  std::vector<ShardCursor> from = all_shards(store);
  for (std::size_t limit = kFirstLook; !from.empty(); limit = kNextLooks) {
    const auto due = store.load({.name_space = name_space, .from = from, .limit = limit});
    if (!due) return tl::make_unexpected(due.error());
    if (due->trouble) return tl::make_unexpected(*due->trouble);
    for (const DueTask& task : due->tasks) {
      const std::string& handler = due->handlers[task.handler];
      if (on_purpose.contains(handler)) continue;
      found.insert(task::shard_of(task.id, total));
      Millis& of_handler = late.handlers[handler];
      of_handler = std::max(of_handler, due->now - task.due);
    }
    seen += due->tasks.size();
    from = due->more;
    if (seen < kReadForNames) continue;
    std::erase_if(from, [&](const ShardCursor& cursor) { return found.contains(cursor.shard); });
    late.complete = from.empty();
    if (std::chrono::steady_clock::now() >= until) break;
  }
  return late;
}

}  // namespace easyretry::storage
