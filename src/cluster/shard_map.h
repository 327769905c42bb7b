#pragma once
// Which shards a member looks after. Pure: the same members give the same shards everywhere.

#include <string>
#include <vector>

#include <easyretry/cluster.h>

namespace easyretry::cluster {

// Of the `index`-th of `members`, ascending. In one view every shard has one owner, and no two members differ by more
// than one shard.
std::vector<ShardId> shards_of(std::size_t index, std::size_t members, int total_shards, Assignment assignment);

// For people: "8: every 8th from 3", "6: 58-63", "2: 5 9", "none"; long ones end with "…". Ascending.
std::string described(const std::vector<ShardId>& shards);

}  // namespace easyretry::cluster
