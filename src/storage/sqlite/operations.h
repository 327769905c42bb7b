#pragma once

#include <optional>
#include <span>
#include <vector>

#include "storage/history.h"
#include "storage/sqlite/calls.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/count_totals.h"
#include "storage/sqlite/history_tables.h"
#include "storage/sqlite/inserts.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// What people ask for: the write side of `revise`, `cancel` and `requeue`.
class Operations {
 public:
  Operations(Connection& db, Lookup& lookup, Calls& calls, HistoryTables& tables, History history, Sums& sums,
             GrowingIds& ids, int total_shards);
  Applied revise(std::span<const Revision> revisions, TimePoint now);
  Applied cancel(std::span<const TaskId> ids, Cancel how, TimePoint now);
  std::vector<std::optional<TaskId>> requeue(std::span<const TaskId> ids, TimePoint now);

 private:
  bool revise_one(const Revision& revision, TimePoint now);
  bool end(TaskId id, TimePoint now);
  bool tell(TaskId id, TimePoint now);
  std::optional<TaskId> requeue_from(const std::string& table, TaskId id, TimePoint now);

  Connection& db_;
  Lookup& lookup_;
  Calls& calls_;
  HistoryTables& tables_;
  const History history_;
  Sums& sums_;
  GrowingIds& ids_;
  const int total_shards_;
  CountedRemovals removals_;
  Statement revise_;
  Statement tell_;
  Statement remove_;
  Statement mark_;
};

}  // namespace easyretry::storage::sqlite
