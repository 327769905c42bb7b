#pragma once
// Which tables the tasks of a database are in at this moment of its life, as its retry_meta has it:
//
//   hash(16)             where they are
//   hash(16)>hash(32)    being split: what is new goes to the tables of hash(32), the rest is on its way there

#include <optional>
#include <string>
#include <string_view>

#include "storage/table_router.h"

namespace easyretry::storage::sql {

struct Placement {
  TableRouter router;                   // for what is stored now
  std::optional<TableRouter> before{};  // rows may still be where this one says

  // The table that a row leaves by the split; nothing where it stays.
  std::optional<TableId> left_by(TaskId id) const {
    if (!before || before->table_of(id) == router.table_of(id)) return std::nullopt;
    return before->table_of(id);
  }
  bool holds(TableId table, ShardId shard) const {
    return router.holds(table, shard) || (before && before->holds(table, shard));
  }
};

std::string to_text(const Placement& placement);
// Throws std::invalid_argument.
Placement parse_placement(std::string_view text, int total_shards, Millis window);

}  // namespace easyretry::storage::sql
