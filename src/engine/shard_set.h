#pragma once
// Which of the logical shards.

#include <bitset>
#include <span>
#include <vector>

#include "task/task_id.h"

namespace easyretry::engine {

class ShardSet {
 public:
  explicit ShardSet(std::vector<ShardId> shards) : list_(std::move(shards)) {
    for (const ShardId shard : list_) bits_.set(static_cast<std::size_t>(shard));
  }
  bool contains(ShardId shard) const { return bits_.test(static_cast<std::size_t>(shard)); }
  std::span<const ShardId> list() const& { return list_; }
  std::span<const ShardId> list() const&& = delete;  // would outlive what it points into

  static ShardSet all(int total_shards) {
    std::vector<ShardId> shards;
    shards.reserve(static_cast<std::size_t>(total_shards));
    for (int shard = 0; shard < total_shards; ++shard) shards.push_back(ShardId{static_cast<std::uint16_t>(shard)});
    return ShardSet{std::move(shards)};
  }

 private:
  std::vector<ShardId> list_;
  std::bitset<task::kMaxShards> bits_;
};

}  // namespace easyretry::engine
