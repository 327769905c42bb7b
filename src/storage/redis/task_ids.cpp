#include "storage/redis/task_ids.h"

#include <algorithm>

#include "task/task_id.h"

namespace easyretry::storage::redis {
namespace {

// So many slots are remembered before those whose millisecond has passed are forgotten: 4 MB.
constexpr std::size_t kSlots = 100'000;

}  // namespace

unsigned sequence_of(const task::KeyDigest& digest) {
  return unsigned{digest[0]} << 2U | unsigned{digest[1]} >> 6U;
}

double upper_bits(TaskId id) {
  return static_cast<double>(static_cast<std::int64_t>(id) >> task::kSequenceBits);
}

TaskId id_from(double upper, const task::KeyDigest& digest) {
  return TaskId{static_cast<std::int64_t>(upper) << task::kSequenceBits | sequence_of(digest)};
}

TaskId TaskIds::next(TimePoint now, ShardId shard, unsigned sequence) {
  const std::uint32_t slot = static_cast<std::uint32_t>(shard) << task::kSequenceBits | sequence;
  const std::lock_guard lock{mutex_};
  if (last_.size() >= kSlots) std::erase_if(last_, [&](const auto& used) { return used.second < now; });
  const auto [used, fresh] = last_.try_emplace(slot, now);
  if (!fresh) used->second = std::max(now, used->second + Millis{1});
  return task::make_task_id(used->second, shard, sequence);
}

}  // namespace easyretry::storage::redis
