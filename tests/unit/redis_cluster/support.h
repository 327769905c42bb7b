#pragma once
// Stores in a Redis Cluster, and the slots of their tasks.

#include "storage/redis/keys.h"
#include "storage/redis/topology.h"
#include "support/eventually.h"
#include "support/redis_cluster.h"
#include "unit/redis/support.h"

namespace easyretry::storage {

using test::RedisCluster;

inline constexpr int kTags = 6;

// The slot of a task in test::kSpace, in a store with this number of tags.
inline int slot_of_key(const std::string& prefix, const std::string& key, int tags = kTags,
                       std::string_view name_space = test::kNamespace) {
  const auto sequence = redis::sequence_of(task::key_digest(name_space, key));
  return redis::slot_of(redis::spread_tags(prefix, tags)[sequence % static_cast<unsigned>(tags)]);
}

// A primary that has tasks, but not the part that the whole store needs.
inline RedisCluster::Node a_primary_of_tasks(const RedisCluster& cluster) {
  for (const auto& node : cluster.primaries()) {
    if (!node.has(redis::slot_of("easyretry"))) return node;
  }
  throw std::runtime_error("there is one primary alone");
}

// A task with a unique key, in a slot of the node; or, without `there`, in a slot of another node.
inline task::NewTask a_task_on(const RedisCluster::Node& node, const std::string& prefix, bool there = true) {
  for (;;) {
    task::NewTask task = a_task();
    if (node.has(slot_of_key(prefix, task.key)) == there) return task;
  }
}

}  // namespace easyretry::storage
