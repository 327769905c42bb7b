#pragma once
// Which tasks an instance looks after: by handler and shard. Immutable, and shared between threads.
//
// An instance claims the tasks that it owns at their due time. It stands by for tasks that, as far as it knows, belong
// to another member, which may not know that yet, or not any more: those it claims a moment after their due time, so
// that no task waits while shards change hands.

#include <bitset>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/shares.h"
#include "task/task_id.h"

namespace easyretry::engine {

// Some of the shards.
class ShardSet {
 public:
  explicit ShardSet(std::vector<ShardId> shards) : list_(std::move(shards)) {
    for (const ShardId shard : list_) bits_.set(static_cast<std::size_t>(shard));
  }
  bool contains(ShardId shard) const { return bits_.test(static_cast<std::size_t>(shard)); }
  std::span<const ShardId> list() const& { return list_; }
  std::span<const ShardId> list() const&& = delete;  // would outlive what it points to

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

class Ownership {
 public:
  enum class Role { none, stands_by, owns };

  // The shards of one handler.
  struct Part {
    ShardSet owned;
    ShardSet stood_by;
    Role role(ShardId shard) const {
      if (owned.contains(shard)) return Role::owns;
      return stood_by.contains(shard) ? Role::stands_by : Role::none;
    }
  };

  // These shards of all handlers.
  explicit Ownership(std::vector<ShardId> shards) : Ownership(cluster::Shares{.rest = std::move(shards)}, {}) {}
  // `others`: shares by lists of members that do not count yet, or not any more.
  Ownership(cluster::Shares own, std::vector<cluster::Shares> others);

  // Lives as long as this object.
  const Part& part(const std::string& handler) const;
  // All shards with something that is owned or stood by for.
  const ShardSet& shards() const { return shards_; }

  friend bool operator==(const Ownership& a, const Ownership& b) { return a.own_ == b.own_ && a.others_ == b.others_; }

 private:
  void add_parts();

  cluster::Shares own_;
  std::vector<cluster::Shares> others_;
  ShardSet shards_;
  Part nothing_;
  Part rest_;
  std::unordered_map<std::string, std::shared_ptr<const Part>> by_handler_;
};

}  // namespace easyretry::engine
