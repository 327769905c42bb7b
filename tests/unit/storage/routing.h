#pragma once
// Times, shards and ids for tests of routing.

#include "storage/table_router.h"
#include "task/task_id.h"

namespace easyretry::storage {

inline constexpr int kShards = 64;

inline TimePoint on(int year_number, unsigned month_number, unsigned day_number) {
  return std::chrono::sys_days{std::chrono::year{year_number} / static_cast<int>(month_number) /
                               static_cast<int>(day_number)};
}

inline ShardId shard(int number) {
  return ShardId{static_cast<std::uint16_t>(number)};
}

inline TaskId id_of(TimePoint created, int shard_number) {
  return task::make_task_id(created, shard(shard_number), 0);
}

}  // namespace easyretry::storage
