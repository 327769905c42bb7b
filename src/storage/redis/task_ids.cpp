#include "storage/redis/task_ids.h"

#include <algorithm>

#include "base/random.h"

namespace easyretry::storage::redis {
namespace {

constexpr std::uint64_t kMostAhead = 1U << 16;  // milliseconds

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

TaskIds::TaskIds() : ahead_(base::Random{base::random_seed()}.below(kMostAhead)) {}

TaskId TaskIds::next(TimePoint now, ShardId shard, unsigned sequence) {
  const auto number = static_cast<std::size_t>(shard);
  const std::lock_guard lock{mutex_};
  if (last_.size() <= number) last_.resize(number + 1);
  if (!last_[number]) last_[number] = std::make_unique<OfShard>();
  TimePoint& last = (*last_[number])[sequence];
  last = std::max(now + ahead_, last + Millis{1});
  return task::make_task_id(last, shard, sequence);
}

}  // namespace easyretry::storage::redis
