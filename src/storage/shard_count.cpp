#include "storage/shard_count.h"

#include <charconv>
#include <stdexcept>

#include "task/task_id.h"

namespace easyretry::storage {
namespace {

int parse_number(std::string_view digits, std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc{} && end == digits.data() + digits.size();
  if (whole && number >= 1 && number <= task::kMaxShards) return number;
  throw std::invalid_argument("total_shards in retry_meta is \"" + std::string{text} +
                              "\", which is not a number of shards; it is corrupted or was edited manually");
}

std::string reshard_command(int shards) {
  return "`easyretry reshard --store … --shards " + std::to_string(shards) + "`";
}

}  // namespace

std::string to_text(const ShardCount& count) {
  const std::string now = std::to_string(count.shards);
  return count.becoming ? now + ">" + std::to_string(*count.becoming) : now;
}

ShardCount parse_shard_count(std::string_view text) {
  const auto mark = text.find('>');
  if (mark == std::string_view::npos) return {parse_number(text, text)};
  return {parse_number(text.substr(0, mark), text), parse_number(text.substr(mark + 1), text)};
}

std::optional<std::string> shard_refusal(const ShardCount& there, int mine) {
  const std::string has = std::to_string(there.shards);
  if (there.becoming) {
    return "the number of shards is being changed from " + has + " to " + std::to_string(*there.becoming) +
           "; finish that with " + reshard_command(*there.becoming);
  }
  if (there.shards == mine) return std::nullopt;
  return "the store has shards=" + has + ", but this instance is configured with shards=" + std::to_string(mine) +
         "; set shards=" + has + " in its url, or stop all instances and run " + reshard_command(mine);
}

std::string shard_by_id(int total_shards) {
  return "((id >> " + std::to_string(task::kSequenceBits) + ") & " + std::to_string(task::kMaxShards - 1) + ") % " +
         std::to_string(total_shards);
}

}  // namespace easyretry::storage
