#pragma once
// Ids whose sequence number is the first 10 bits of the key's digest. So the sorted set that maps a key to its task
// stores only the other 53 bits, which fit exactly into a score, and it is also ordered by id.

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include <easyretry/task.h>

#include "task/task_id.h"
#include "task/task_key.h"

namespace easyretry::storage::redis {

unsigned sequence_of(const task::KeyDigest& digest);
// The upper 53 bits of an id, and back.
double upper_bits(TaskId id);
TaskId id_from(double upper, const task::KeyDigest& digest);

// Never draws an id twice in this process: ids of one shard and sequence have a millisecond each, borrowed from the
// future if necessary. Two processes that store the same key in the same millisecond must not draw the same id: when a
// reply is lost, each would take the other's task for its own. So each process is ahead by a random time of up to a
// minute. Safe to use from any thread.
class TaskIds {
 public:
  TaskIds();
  TaskId next(TimePoint now, ShardId shard, unsigned sequence);

 private:
  using OfShard = std::array<TimePoint, 1U << task::kSequenceBits>;

  const Millis ahead_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<OfShard>> last_;  // by shard: 8 KiB for each that was used
};

}  // namespace easyretry::storage::redis
