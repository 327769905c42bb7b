#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/sql/inserts.h"
#include "storage/sql/tables.h"

namespace easyretry::storage::sql {

// `requeue`, within one transaction: what starts again is marked in history, or neither comes about.
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
