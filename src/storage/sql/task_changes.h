#pragma once
// Changes of tasks inside one transaction: tasks that end, that go back to wait, that are revised, cancelled or
// requeued.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/history.h"
#include "storage/sql/inserts.h"
#include "storage/sql/live_rows.h"

namespace easyretry::storage::sql {

// Each task is named once. Returns the ids of those that were changed. Throws MissingTable.
std::vector<TaskId> settle(Session& session, Tables& tables, History kept, std::span<const Settlement> settlements,
                           TimePoint now);
std::vector<TaskId> cancel(Session& session, Tables& tables, History kept, std::span<const TaskId> ids, Cancel how,
                           TimePoint now);
// Tasks that wait get another due time or other rules.
std::vector<TaskId> revise(Session& session, Tables& tables, std::span<const Revision> revisions, TimePoint now);

// `requeue`: a task is started again and marked in history, or neither.
class Requeues {
 public:
  Requeues(Session& session, Tables& tables, Inserts& inserts, TimePoint now)
      : session_(session), tables_(tables), inserts_(inserts), now_(now) {}

  std::vector<std::optional<TaskId>> start_again(std::span<const TaskId> ids);

 private:
  struct Ended {
    TaskRecord record;
    std::string table;
  };
  std::map<TaskId, Ended> lock(std::span<const TaskId> ids);

  Session& session_;
  Tables& tables_;
  Inserts& inserts_;
  const TimePoint now_;
};

}  // namespace easyretry::storage::sql
