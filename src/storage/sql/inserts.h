#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/sql/live_rows.h"
#include "task/task_id.h"

namespace easyretry::storage::sql {

// The write side of `insert` and of `requeue`. Safe to use from any thread, each with its own rows.
class Inserts {
 public:
  Inserts(std::string kind, int total_shards);

  // Nothing is stored as long as there is a reason.
  void allow_unless(std::optional<std::string> refusal);

  // Throws Refusal, also where OnDuplicate::reject meets a live task.
  std::vector<Inserted> insert(LiveRows& rows, const std::string& history, std::span<const NewTask* const> tasks,
                               TimePoint now);
  // Nothing where its key is live.
  std::optional<TaskId> start_again(LiveRows& rows, const std::string& history, const TaskRecord& finished,
                                    TimePoint now);

 private:
  class Batch;
  TaskId draw(const TaskInfo& info, TimePoint now);

  const std::string kind_;
  const int total_shards_;
  std::mutex mutex_;
  task::TaskIdSource ids_;              // guarded by mutex_
  std::optional<std::string> refusal_;  // guarded by mutex_
};

}  // namespace easyretry::storage::sql
