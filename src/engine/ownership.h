#pragma once
// Which tasks an instance looks after: by handler and shard. Immutable once made, and shared between threads.
//
// What it owns it claims at the due time. What it stands by for belongs to another member as far as it knows, who may
// not know yet, or not any more: it claims that a moment after the due time, so nothing waits while shards change
// hands.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/shares.h"
#include "engine/shard_set.h"

namespace easyretry::engine {

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
  // `others`: shares by lists of members that do not count, or not any more.
  Ownership(cluster::Shares own, std::vector<cluster::Shares> others);

  // Valid as long as this is.
  const Part& part(const std::string& handler) const;
  // All shards of which something is owned or stood by for.
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
