#include "cluster/shard_map.h"

#include <algorithm>

namespace easyretry::cluster {
namespace {

std::vector<ShardId> every(std::size_t step, std::size_t from, std::size_t to) {
  std::vector<ShardId> shards;
  for (std::size_t shard = from; shard < to; shard += step) shards.push_back(static_cast<ShardId>(shard));
  return shards;
}

}  // namespace

std::vector<ShardId> shards_of(std::size_t index, std::size_t members, int total_shards, Assignment assignment) {
  const auto total = static_cast<std::size_t>(total_shards);
  if (assignment == Assignment::stride) return every(members, index, total);
  const std::size_t share = total / members;
  const std::size_t with_one_more = total % members;
  const std::size_t from = index * share + std::min(index, with_one_more);
  return every(1, from, from + share + (index < with_one_more ? 1 : 0));
}

}  // namespace easyretry::cluster
