#pragma once

#include <cstdint>
#include <mutex>
#include <span>

#include "storage/counts.h"
#include "storage/sqlite/calls.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/lookup.h"
#include "storage/store.h"
#include "task/task_id.h"

namespace easyretry::storage::sqlite {

// Ids that grow beyond all that are stored, even if the clock was set back while nobody looked. Thread-safe.
class GrowingIds {
 public:
  GrowingIds(std::uint64_t seed, TaskId highest_stored);
  TaskId next(TimePoint now, ShardId shard);

 private:
  std::mutex mutex_;
  task::TaskIdSource source_;  // guarded by mutex_
  const TimePoint floor_;
};

// The write side of `insert`.
class Inserts {
 public:
  Inserts(Connection& db, Lookup& lookup, Calls& calls, Sums& sums, GrowingIds& ids, int total_shards);
  InsertReply insert(std::span<const NewTask> tasks, TimePoint now);

 private:
  Inserted insert_one(const NewTask& task, TimePoint now);
  Inserted met(const Inserted& there, const NewTask& task);
  void bind_past(const NewTask& task, bool leased, TimePoint now);
  bool add(const NewTask& task, TaskId id, ShardId shard, TimePoint due, TimePoint now);

  Lookup& lookup_;
  Calls& calls_;
  Sums& sums_;
  GrowingIds& ids_;
  const int total_shards_;
  Statement insert_;
};

}  // namespace easyretry::storage::sqlite
