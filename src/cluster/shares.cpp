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

// A generation is the shards [from, to) that a store got at one time. Its first block goes to the member after the one
// that got the last odd shard of the generation before. So the shares differ by at most one in all generations
// together.
void add_block(std::vector<ShardId>& shards, std::size_t index, std::size_t members, std::size_t from, std::size_t to) {
  const std::size_t turn = (index + members - from % members) % members;
  const std::size_t share = (to - from) / members;
  const std::size_t with_one_more = (to - from) % members;
  const std::size_t first = from + turn * share + std::min(turn, with_one_more);
  const auto block = every(1, first, first + share + (turn < with_one_more ? 1 : 0));
  shards.insert(shards.end(), block.begin(), block.end());
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

using ShardIterator = std::vector<ShardId>::const_iterator;

// The last of the consecutive numbers that begin at `shard`.
ShardIterator end_of_run(ShardIterator shard, ShardIterator end) {
  const auto gap = [](ShardId a, ShardId b) { return static_cast<int>(b) - static_cast<int>(a) != 1; };
  const auto last = std::adjacent_find(shard, end, gap);
  return last != end ? last : end - 1;
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
Runners fallback_runners(const std::vector<Member>& members, const ByHandler& by_handler) {
  const auto most = std::ranges::max_element(by_handler, {}, [](const auto& one) { return one.second.size(); });
  if (most != by_handler.end()) return most->second;
  Runners unknown = all_places(members);
  std::erase_if(unknown, [&](std::size_t i) { return members[i].handlers.has_value(); });
  return unknown.empty() ? all_places(members) : unknown;
}

}  // namespace

std::string described(const std::vector<ShardId>& shards) {
  if (shards.empty()) return "none";
  std::string text = std::to_string(shards.size()) + ":";
  const auto step = step_of(shards);
  if (step && *step > 1) return text + " every " + ordinal(*step) + " from " + text_of(shards.front());
  for (auto shard = shards.begin(); shard != shards.end();) {
    if (text.size() > kLongest) return text + " …";
    const auto last = end_of_run(shard, shards.end());
    text += " " + text_of(*shard) + (last - shard > 1 ? "-" + text_of(*last) : "");
    shard = last - shard > 1 ? last + 1 : shard + 1;
  }
  return text;
}

std::vector<ShardId> shards_of(std::size_t index, std::size_t members, const Division& division) {
  const auto total = static_cast<std::size_t>(division.total_shards);
  if (division.assignment == Assignment::stride) return every(members, index, total);
  std::vector<ShardId> shards;
  std::size_t from = 0;
  for (const int earlier : division.earlier_shards) {
    const auto to = static_cast<std::size_t>(earlier);
    add_block(shards, index, members, from, to);
    from = to;
  }
  add_block(shards, index, members, from, total);
  return shards;
}

std::vector<ShardId> Shares::all() const {
  std::vector<ShardId> shards = rest;
  for (const Share& share : own) shards.insert(shards.end(), share.shards.begin(), share.shards.end());
  std::ranges::sort(shards);
  shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
  return shards;
}

Shares shares_of(const std::vector<Member>& members, std::size_t self, const Division& division) {
  const auto share = [&](const Runners& runners) -> std::optional<std::vector<ShardId>> {
    const auto place = std::ranges::lower_bound(runners, self);
    if (place == runners.end() || *place != self) return std::nullopt;
    return shards_of(static_cast<std::size_t>(place - runners.begin()), runners.size(), division);
  };
  const ByHandler by_handler = runners_of(members);
  std::map<Runners, Share> groups;
  Shares shares;
  for (const auto& [name, runners] : by_handler) {
    shares.announced.emplace_back(name);
    const auto known = groups.find(runners);
    if (known != groups.end()) {
      known->second.handlers.emplace_back(name);
    } else if (auto shards = share(runners)) {
      groups.emplace(runners, Share{{std::string{name}}, *std::move(shards)});
    }
  }
  for (auto& [runners, group] : groups) shares.own.push_back(std::move(group));
  shares.rest = share(fallback_runners(members, by_handler)).value_or(std::vector<ShardId>{});
  return shares;
}

}  // namespace easyretry::cluster
