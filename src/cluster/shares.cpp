#include "cluster/shares.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include "cluster/shard_map.h"

namespace easyretry::cluster {
namespace {

using Runners = std::vector<std::size_t>;  // places in the list of members, ascending
using ByHandler = std::map<std::string_view, Runners>;

Runners all_places(const std::vector<Member>& members) {
  Runners places;
  for (std::size_t i = 0; i < members.size(); ++i) places.push_back(i);
  return places;
}

// Of each handler that somebody names. Members that say nothing run it, too.
ByHandler runners_of(const std::vector<Member>& members) {
  ByHandler all;
  for (const Member& member : members) {
    if (!member.handlers) continue;
    for (const std::string& name : *member.handlers) all[name];
  }
  for (const std::size_t i : all_places(members)) {
    if (!members[i].handlers) {
      for (auto& [name, runners] : all) runners.push_back(i);
      continue;
    }
    for (const std::string& name : *members[i].handlers) {
      Runners& runners = all[name];
      if (runners.empty() || runners.back() != i) runners.push_back(i);
    }
  }
  return all;
}

// Who looks after what nobody says to run. Nobody named a handler: those who may run anything, or else all.
Runners caretakers(const std::vector<Member>& members, const ByHandler& by_handler) {
  const auto most = std::ranges::max_element(by_handler, {}, [](const auto& one) { return one.second.size(); });
  if (most != by_handler.end()) return most->second;
  Runners silent = all_places(members);
  std::erase_if(silent, [&](std::size_t i) { return members[i].handlers.has_value(); });
  return silent.empty() ? all_places(members) : silent;
}

}  // namespace

std::vector<ShardId> Shares::all() const {
  std::vector<ShardId> shards = rest;
  for (const Share& share : own) shards.insert(shards.end(), share.shards.begin(), share.shards.end());
  std::ranges::sort(shards);
  shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
  return shards;
}

Shares shares_of(const std::vector<Member>& members, std::size_t self, int total_shards, Assignment assignment) {
  const auto share = [&](const Runners& runners) -> std::optional<std::vector<ShardId>> {
    const auto place = std::ranges::lower_bound(runners, self);
    if (place == runners.end() || *place != self) return std::nullopt;
    return shards_of(static_cast<std::size_t>(place - runners.begin()), runners.size(), total_shards, assignment);
  };
  const ByHandler by_handler = runners_of(members);
  std::map<Runners, Share> groups;
  Shares shares;
  for (const auto& [name, runners] : by_handler) {
    shares.said.emplace_back(name);
    const auto known = groups.find(runners);
    if (known != groups.end()) {
      known->second.handlers.emplace_back(name);
    } else if (auto shards = share(runners)) {
      groups.emplace(runners, Share{{std::string{name}}, *std::move(shards)});
    }
  }
  for (auto& [runners, group] : groups) shares.own.push_back(std::move(group));
  shares.rest = share(caretakers(members, by_handler)).value_or(std::vector<ShardId>{});
  return shares;
}

}  // namespace easyretry::cluster
