#include "cluster/shard_map.h"

#include <algorithm>
#include <optional>

namespace easyretry::cluster {
namespace {

// Where the text goes there is room for little more.
constexpr std::size_t kLongest = 300;

std::vector<ShardId> every(std::size_t step, std::size_t from, std::size_t to) {
  std::vector<ShardId> shards;
  for (std::size_t shard = from; shard < to; shard += step) shards.push_back(static_cast<ShardId>(shard));
  return shards;
}

// Between each and the next; nothing where it differs.
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

}  // namespace easyretry::cluster
