#pragma once
// Times, shards and ids for tests of routing.

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

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

struct ShardsOfTable {
  TableId table;
  std::vector<ShardId> shards;  // ascending

  friend bool operator==(const ShardsOfTable&, const ShardsOfTable&) = default;
};

// The tables that a scan of these shards reads, as LiveRows::due() finds them.
inline std::vector<ShardsOfTable> tables_for(const TableRouter& router, std::span<const ShardId> shards,
                                             TimePoint now) {
  std::vector<ShardsOfTable> tables;
  for (const TableId table : router.all_tables(now)) {
    ShardsOfTable part{table, {}};
    std::copy_if(shards.begin(), shards.end(), std::back_inserter(part.shards),
                 [&](ShardId shard) { return router.holds(table, shard); });
    std::sort(part.shards.begin(), part.shards.end());
    part.shards.erase(std::unique(part.shards.begin(), part.shards.end()), part.shards.end());
    if (!part.shards.empty()) tables.push_back(std::move(part));
  }
  return tables;
}

}  // namespace easyretry::storage
