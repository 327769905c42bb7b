#pragma once
// How many shards a store has, as its retry_meta says: `64`, or `64>32` while that is being changed.
//
// The shard of a task is that of its id, modulo their number. So a task's table stays the same whatever the number
// becomes, as long as the tables divide it; and more shards than there ever were change no task.

#include <optional>
#include <string>
#include <string_view>

namespace easyretry::storage {

struct ShardCount {
  int shards = 0;
  std::optional<int> becoming{};

  friend bool operator==(const ShardCount&, const ShardCount&) = default;
};

std::string to_text(const ShardCount& count);
// Throws std::invalid_argument.
ShardCount parse_shard_count(std::string_view text);

// Why an instance that is configured with so many may not work on it, and what helps; nothing where it may.
std::optional<std::string> shard_refusal(const ShardCount& there, int mine);

// The shard of a row by its `id`, in SQL that all databases understand.
std::string shard_by_id(int total_shards);

}  // namespace easyretry::storage
