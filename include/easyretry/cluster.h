#pragma once
// How the instances of one namespace share the shards of a store.
//
// Each instance has its own view of the members and derives its shards from that view. A view is only a hint about
// which instance should read which shard. The store decides which instance runs a task, so instances whose views differ
// read some rows twice and do no other harm.

#include <optional>
#include <string>
#include <vector>

#include <easyretry/task.h>
#include <easyretry/time.h>

#pragma GCC visibility push(default)
namespace easyretry {

// Which shards the i-th of n members owns.
enum class Assignment {
  stride,  // i, i + n, i + 2n, …: if n is a multiple of the number of tables, each member reads one table
  even,    // a contiguous block; if the store grew, one block of its old shards and one of the new ones
};

// The shards that an instance owns before it has the first list of members.
enum class AtStart {
  alone,  // all shards
  wait,   // no shards; it still runs tasks that are overdue by `grace`
};

struct Member {
  std::string node;  // host name, process id and a random part: unique for each start
  TimePoint since{};
  std::string says{};  // describes its shards, for display: "8: every 8th from 3"

  // The handlers it runs, in ascending order; nullopt: not known, so it is assumed to run all of them.
  std::optional<std::vector<std::string>> handlers{};

  friend bool operator==(const Member&, const Member&) = default;
};

struct ClusterView {
  std::vector<Member> members;  // in the order in which shards are assigned
  std::string self;             // the node of this instance
  std::vector<ShardId> shards;  // owned by this instance
  std::string source;           // of the list: "store", "static", "nacos" or "alone"
  bool trusted = false;         // false: the source reports something else or nothing; this is the last good list
  Millis age{};                 // since the source last returned a list
};

}  // namespace easyretry
#pragma GCC visibility pop
