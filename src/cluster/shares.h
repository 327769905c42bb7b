#pragma once
// Which member serves which shards. The members that run a handler divide all of its shards among themselves; if all
// members run the same handlers, there is a single division. Pure: the same members give the same shares everywhere.

#include <cstddef>
#include <string>
#include <vector>

#include <easyretry/cluster.h>

namespace easyretry::cluster {

// How the shards of a store are divided.
struct Division {
  int total_shards = 0;
  Assignment assignment = Assignment::stride;
  // Smaller numbers of shards that the store had before; ascending. Tasks from that time are in the first shards. So
  // `even` divides the shards of each time separately, and every member gets its part of the old tasks. `stride` does
  // that anyway.
  std::vector<int> earlier_shards{};
};

// The shards of the `index`-th of `members`, ascending. In one view, every shard has one owner, and no two members
// differ by more than one shard. The same is true of the shards below each earlier number.
std::vector<ShardId> shards_of(std::size_t index, std::size_t members, const Division& division);

// For display: "8: every 8th from 3", "6: 58-63", "33: 0-15 64-79 99", "none"; a long text ends with "…". Expects
// ascending shards.
std::string described(const std::vector<ShardId>& shards);

// Handlers that are run by the same members, and one member's shards of them.
struct Share {
  std::vector<std::string> handlers;  // ascending
  std::vector<ShardId> shards;        // ascending

  friend bool operator==(const Share&, const Share&) = default;
};

struct Shares {
  std::vector<Share> own{};  // for the handlers that the member runs
  // For handlers that no member names. They go to the members that share the most widely run handler. Those read these
  // shards anyway: each shard belongs to one of them, and no member reads more because of it.
  std::vector<ShardId> rest{};
  std::vector<std::string> announced{};  // all handlers that some member names, ascending

  // All shards that the member has to read, ascending.
  std::vector<ShardId> all() const;

  friend bool operator==(const Shares&, const Shares&) = default;
};

// The shares of the `self`-th member. The members are in the order in which shards are assigned. A member that does not
// name its handlers gets a share of every handler.
Shares shares_of(const std::vector<Member>& members, std::size_t self, const Division& division);

}  // namespace easyretry::cluster
