#include "task/task_id.h"

#include <algorithm>

namespace easyretry::task {
namespace {

using namespace std::chrono;

constexpr int kShardBits = 12;
constexpr unsigned kSequences = 1U << kSequenceBits;
constexpr TimePoint kEpoch{sys_days{2020y / January / 1}};
constexpr TimePoint kEnd = kEpoch + Millis{(std::int64_t{1} << 41) - 1};

}  // namespace

TaskId make_task_id(TimePoint created, ShardId shard, unsigned sequence) {
  // A clock before 2020 or after 2089 is wrong; ids stay unique and positive all the same.
  const std::int64_t time = (std::clamp(created, kEpoch, kEnd) - kEpoch).count();
  return TaskId{(time << (kShardBits + kSequenceBits)) |
                (std::int64_t{static_cast<std::uint16_t>(shard)} << kSequenceBits) | (sequence % kSequences)};
}

TimePoint created_at(TaskId id) {
  return kEpoch + Millis{static_cast<std::int64_t>(id) >> (kShardBits + kSequenceBits)};
}

ShardId shard_of(TaskId id) {
  return ShardId{static_cast<std::uint16_t>((static_cast<std::int64_t>(id) >> kSequenceBits) & (kMaxShards - 1))};
}

ShardId shard_of(TaskId id, int total_shards) {
  return ShardId{static_cast<std::uint16_t>(static_cast<int>(shard_of(id)) % total_shards)};
}

// A clock outside of the years that an id can have gives ids of the first or the last of them.
IdBounds ids_stored_in(const TimeRange& time) {
  IdBounds bounds;
  if (time.from) bounds.from = make_task_id(*time.from, ShardId{}, 0);
  if (time.until && *time.until > kEpoch && *time.until < kEnd - kMostAhead) {
    bounds.until = make_task_id(*time.until + kMostAhead, ShardId{}, 0);
  }
  return bounds;
}

TaskId TaskIdSource::next(TimePoint now, ShardId shard) {
  now = std::max(now, kEpoch);  // a wrong clock must not give all ids the same time
  if (now > millisecond_) {
    millisecond_ = now;
  } else if (next_ % kSequences == 0) {
    millisecond_ += Millis{1};  // the sequence begins again
  }
  return make_task_id(millisecond_, shard, next_++);
}

}  // namespace easyretry::task
