#pragma once
// Who looks after which shards, where not all members run the same handlers: the members that run a handler share all
// shards of it among themselves. Where all run the same ones, that is one division for everything. Pure: the same
// members give the same shares everywhere.

#include <cstddef>
#include <string>
#include <vector>

#include <easyretry/cluster.h>

namespace easyretry::cluster {

// Handlers that the same members run, and a member's shards of them.
struct Share {
  std::vector<std::string> handlers;  // ascending
  std::vector<ShardId> shards;        // ascending

  friend bool operator==(const Share&, const Share&) = default;
};

struct Shares {
  std::vector<Share> own{};  // of the handlers that the member runs
  // Of handlers that nobody says to run. They go to those who share the handler that most members run, who look at
  // these shards anyway: each shard has one of them, and nobody reads more for it.
  std::vector<ShardId> rest{};
  std::vector<std::string> said{};  // all handlers that somebody says to run, ascending

  // All that the member has to look at, ascending.
  std::vector<ShardId> all() const;

  friend bool operator==(const Shares&, const Shares&) = default;
};

// Of the `self`-th of the members, which are in the order by which shards are given out. A member that does not say
// what it runs has its share of every handler.
Shares shares_of(const std::vector<Member>& members, std::size_t self, int total_shards, Assignment assignment);

}  // namespace easyretry::cluster
