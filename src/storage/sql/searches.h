#pragma once
// Reads for operators: live and ended tasks by id, lists and counts. Changes and locks nothing.

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "storage/sql/live_rows.h"

namespace easyretry::storage::sql {

class Searches {
 public:
  Searches(Session& session, Tables& tables) : session_(session), tables_(tables) {}

  std::vector<TaskRecord> find(std::span<const TaskId> ids, TimePoint now);
  std::vector<TaskRecord> find_finished(std::set<TaskId> wanted);
  std::vector<TaskRecord> list(const TaskQuery& query);
  std::int64_t count(const TaskQuery& query);

 private:
  std::vector<Search> in_tables(const TaskQuery& query);

  Session& session_;
  Tables& tables_;
};

}  // namespace easyretry::storage::sql
