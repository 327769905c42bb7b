#pragma once
// How the instances of one namespace share the shards of a store.
//
// Every instance has a view of who the members are, and gets its shards from it by itself. A view is a hint about who
// should look where: which instance runs a task is decided in the store, so views that differ cost some double reading
// and nothing else.

#include <optional>
#include <string>
#include <vector>

#include <easyretry/task.h>
#include <easyretry/time.h>

namespace easyretry {

// Which shards the i-th of n members looks after.
enum class Assignment {
  stride,  // i, i + n, i + 2n, …: with n a multiple of the tables, each member reads one of them
  even,    // a block; the first ones have one more where they do not come out even
};

// What an instance does that has not yet been told who the members are.
enum class AtStart {
  alone,  // it looks after all shards
  wait,   // after none; tasks that are overdue by `grace` are served all the same
};

struct Member {
  std::string node;  // host, process and something random: unique per start
  TimePoint since{};
  std::string says{};  // of its shards, for people: "8: every 8th from 3"

  // The handlers it runs, ascending; nullopt: it does not say, and is taken to run all of them.
  std::optional<std::vector<std::string>> handlers{};

  friend bool operator==(const Member&, const Member&) = default;
};

struct ClusterView {
  std::vector<Member> members;  // in the order by which shards are given out
  std::string self;             // the node of this instance
  std::vector<ShardId> shards;  // that it looks after
  std::string source;           // where the list comes from: "store", "static", "nacos", or "alone"
  bool trusted = false;         // false: the source says something else, or nothing, and this is the last good list
  Millis age{};                 // since the source last gave a list
};

}  // namespace easyretry
