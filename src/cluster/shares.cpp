#include "cluster/shares.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

namespace easyretry::cluster {
namespace {

// The places that store the text have room for little more.
constexpr std::size_t kLongest = 300;

std::vector<ShardId> every(std::size_t step, std::size_t from, std::size_t to) {
  std::vector<ShardId> shards;
  for (std::size_t shard = from; shard < to; shard += step) shards.push_back(static_cast<ShardId>(shard));
  return shards;
}

// The distance between neighbours; nullopt if it varies.
std::optional<int> step_of(const std::vector<ShardId>& shards) {
  const auto gap = [&](std::size_t i) { return static_cast<int>(shards[i]) - static_cast<int>(shards[i - 1]); };
  for (std::size_t i = 2; i < shards.size(); ++i) {
    if (gap(i) != gap(1)) return std::nullopt;
  }
  return shards.size() < 3 ? std::nullopt : std::optional{gap(1)};
}

std::string ordinal(int number) {
  const int tens = number % 100;
  const int ones = number % 10;
  const bool teen = tens >= 11 && tens <= 13;
  const char* const ending = teen || ones == 0 || ones > 3 ? "th" : ones == 1 ? "st" : ones == 2 ? "nd" : "rd";
  return std::to_string(number) + ending;
}

std::string text_of(ShardId shard) {
  return std::to_string(static_cast<int>(shard));
}

using Runners = std::vector<std::size_t>;  // places in the list of members, ascending
using ByHandler = std::map<std::string_view, Runners>;

Runners all_places(const std::vector<Member>& members) {
  Runners places;
  for (std::size_t i = 0; i < members.size(); ++i) places.push_back(i);
  return places;
}

// For each handler that some member names. Members that name none are assumed to run it, too.
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

// The members that serve handlers which no member names. If no handler is named at all: the members that may run
// anything, or else all.
Runners caretakers(const std::vector<Member>& members, const ByHandler& by_handler) {
  const auto most = std::ranges::max_element(by_handler, {}, [](const auto& one) { return one.second.size(); });
  if (most != by_handler.end()) return most->second;
  Runners silent = all_places(members);
  std::erase_if(silent, [&](std::size_t i) { return members[i].handlers.has_value(); });
  return silent.empty() ? all_places(members) : silent;
}

}  // namespace

std::string described(const std::vector<ShardId>& shards) {
  if (shards.empty()) return "none";
  std::string text = std::to_string(shards.size()) + ":";
  const auto step = step_of(shards);
  if (step == 1) return text + " " + text_of(shards.front()) + "-" + text_of(shards.back());
  if (step) return text + " every " + ordinal(*step) + " from " + text_of(shards.front());
  for (const ShardId shard : shards) {
    if (text.size() > kLongest) return text + " …";
    text += " " + text_of(shard);
  }
  return text;
}

std::vector<ShardId> shards_of(std::size_t index, std::size_t members, int total_shards, Assignment assignment) {
  const auto total = static_cast<std::size_t>(total_shards);
  if (assignment == Assignment::stride) return every(members, index, total);
  const std::size_t share = total / members;
  const std::size_t with_one_more = total % members;
  const std::size_t from = index * share + std::min(index, with_one_more);
  return every(1, from, from + share + (index < with_one_more ? 1 : 0));
}

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
