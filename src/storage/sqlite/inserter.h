#pragma once
// The write side of `insert`: in the store's own transaction, or within one of the application.

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>

#include "storage/counts.h"
#include "storage/sqlite/calls.h"
#include "storage/sqlite/connection.h"
#include "storage/store.h"
#include "task/task_id.h"

namespace easyretry::storage::sqlite {

// Ids greater than all that are stored, even if the clock was set back while no engine ran. Thread-safe.
class GrowingIds {
 public:
  GrowingIds(std::uint64_t seed, TaskId highest_stored);
  TaskId next(TimePoint now, ShardId shard);

 private:
  std::mutex mutex_;
  task::TaskIdSource source_;  // guarded by mutex_
  const TimePoint floor_;
};

// retry_count: the sums of tasks stored and ended. One connection writes at a time, so each transaction adds to the
// totals themselves.
class CountTotals {
 public:
  explicit CountTotals(Connection& db);
  // Call it inside the transaction whose tasks are counted.
  void add(const Sums& sums);

 private:
  PreparedStatement add_;
};

class Inserter {
 public:
  Inserter(Connection& db, Calls& calls, Sums& sums, GrowingIds& ids, int total_shards);
  // Throws StoreError for a duplicate of a task that asks for OnDuplicate::reject.
  InsertReply insert(std::span<const NewTask> tasks, TimePoint now);

 private:
  Inserted insert_one(const NewTask& task, TimePoint now);
  Inserted duplicate_of(const Inserted& live, const NewTask& task);
  void bind_past(const NewTask& task, bool leased, TimePoint now);
  bool add(const NewTask& task, TaskId id, ShardId shard, TimePoint due, TimePoint now);

  Calls& calls_;
  Sums& sums_;
  GrowingIds& ids_;
  const int total_shards_;
  PreparedStatement insert_;
};

// Stores tasks as part of a transaction on the application's own connection to the same file. All of the batch or, if
// it throws, nothing; the transaction itself stays open and usable.
//
// That connection must not checkpoint (writer.h says why), so checkpoints are switched off on it permanently. While its
// transaction is open, nothing else writes to the file: it should be short.
//
// Throws StoreError if `theirs` is null, has another file open, or is not inside a transaction.
InsertReply insert_within(sqlite3* theirs, const std::filesystem::path& file, std::span<const NewTask> tasks,
                          GrowingIds& ids, int total_shards, TimePoint now);

}  // namespace easyretry::storage::sqlite
