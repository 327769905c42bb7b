#pragma once
// A task id contains the place of its row: | 0 | 41 bits ms since 2020 | 12 bits shard | 10 bits sequence |.
//
// 41 bits reach the year 2089; 12 bits are 4,096 shards; up to 1,024 ids per millisecond and process, and more are
// borrowed from the next millisecond. Two processes may draw the same id: the primary key refuses the second, which
// draws again.

#include <chrono>
#include <cstdint>
#include <optional>

#include <easyretry/task.h>

namespace easyretry::task {

inline constexpr int kMaxShards = 4096;
inline constexpr int kSequenceBits = 10;

TaskId make_task_id(TimePoint created, ShardId shard, unsigned sequence);
TimePoint created_at(TaskId id);  // exact to the millisecond, or a little later if ids were borrowed
ShardId shard_of(TaskId id);
// The shard of a task in a store that has this many now: an id outlives a change of their number.
ShardId shard_of(TaskId id, int total_shards);

// The ids that tasks have which a database server stored in this time: from the first, and below the second. The id of
// such a task is at most kMostAhead ahead of its creation.
inline constexpr Millis kMostAhead = std::chrono::minutes{10};
struct IdBounds {
  std::optional<TaskId> from{};
  std::optional<TaskId> until{};
};
IdBounds ids_stored_in(const TimeRange& time);

// Draws distinct ids. In one shard each is greater than the one before, so the newest task of a key has the greatest
// id. Not thread-safe: each store guards its own.
class TaskIdSource {
 public:
  explicit TaskIdSource(std::uint64_t seed) : next_(static_cast<unsigned>(seed)) {}
  TaskId next(TimePoint now, ShardId shard);

 private:
  TimePoint millisecond_{};
  unsigned next_;  // starts at random, so that processes rarely draw the same
};

}  // namespace easyretry::task
