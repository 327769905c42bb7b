#pragma once
// From hash(16) to hash(32): which shards move from which table to which.
//
// By `shard % 32`, retry_task_0 keeps its shards 0 and 32 and gives 16 and 48 to retry_task_16. No hash is computed
// anew; rows are told apart by their shard alone.

#include <vector>

#include "storage/table_router.h"

namespace easyretry::storage {

struct TableMove {
  TableId from;
  TableId to;  // a new table: its number is not among those of the old layout
  std::vector<ShardId> shards;

  friend bool operator==(const TableMove&, const TableMove&) = default;
};

// In the order of the new tables; what is not mentioned stays. Throws std::invalid_argument unless both are hash
// layouts, `to` has a multiple of the tables of `from`, and both divide total_shards.
std::vector<TableMove> split(const Layout& from, const Layout& to, int total_shards);

}  // namespace easyretry::storage
