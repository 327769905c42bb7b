#include "engine/ownership.h"

#include <algorithm>
#include <map>
#include <set>

namespace easyretry::engine {
namespace {

using cluster::Share;
using cluster::Shares;

ShardSet all_shards(const Shares& own, const std::vector<Shares>& others) {
  std::set<ShardId> all;
  const auto add = [&](const std::vector<ShardId>& some) { all.insert(some.begin(), some.end()); };
  add(own.all());
  for (const Shares& other : others) add(other.all());
  return ShardSet{{all.begin(), all.end()}};
}

ShardSet rest_of(const std::vector<Shares>& others) {
  std::set<ShardId> all;
  for (const Shares& other : others) all.insert(other.rest.begin(), other.rest.end());
  return ShardSet{{all.begin(), all.end()}};
}

}  // namespace

Ownership::Ownership(Shares own, std::vector<Shares> others)
    : own_(std::move(own)),
      others_(std::move(others)),
      shards_(all_shards(own_, others_)),
      nothing_{ShardSet{{}}, ShardSet{{}}},
      rest_{ShardSet{own_.rest}, rest_of(others_)} {
  add_parts();
}

// Handlers that have the same shares in every list use one part together.
void Ownership::add_parts() {
  using Group = std::vector<const Share*>;  // by our own list first, then one for each other list; or null
  std::map<std::string, Group> groups;
  const auto add = [&](const Shares& shares, std::size_t place) {
    for (const Share& share : shares.own) {
      for (const std::string& handler : share.handlers) {
        Group& group = groups[handler];
        group.resize(1 + others_.size());
        group[place] = &share;
      }
    }
  };
  add(own_, 0);
  for (std::size_t i = 0; i < others_.size(); ++i) add(others_[i], i + 1);

  std::map<Group, std::shared_ptr<const Part>> parts;
  for (const auto& [handler, group] : groups) {
    auto& part = parts[group];
    if (!part) {
      std::set<ShardId> stood_by;
      for (std::size_t i = 1; i < group.size(); ++i) {
        if (group[i] != nullptr) stood_by.insert(group[i]->shards.begin(), group[i]->shards.end());
      }
      part = std::make_shared<Part>(Part{ShardSet{group[0] != nullptr ? group[0]->shards : std::vector<ShardId>{}},
                                         ShardSet{{stood_by.begin(), stood_by.end()}}});
    }
    by_handler_.emplace(handler, part);
  }
}

const Ownership::Part& Ownership::part(const std::string& handler) const {
  const auto known = by_handler_.find(handler);
  if (known != by_handler_.end()) return *known->second;
  return std::ranges::binary_search(own_.announced, handler) ? nothing_ : rest_;
}

}  // namespace easyretry::engine
