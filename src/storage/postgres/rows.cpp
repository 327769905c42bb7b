#include "storage/postgres/rows.h"

#include <algorithm>
#include <limits>

#include "storage/postgres/batch.h"

namespace easyretry::storage::postgres {

std::vector<TaskId> ids_in(const Rows& rows) {
  std::vector<TaskId> ids;
  ids.reserve(static_cast<std::size_t>(rows.size()));
  for (int i = 0; i < rows.size(); ++i) ids.push_back(TaskId{rows.integer(i, 0)});
  return ids;
}

std::vector<sql::EndedRow> ended_in(const Rows& rows) {
  std::vector<sql::EndedRow> ended;
  ended.reserve(static_cast<std::size_t>(rows.size()));
  for (int i = 0; i < rows.size(); ++i) {
    ended.push_back({TaskId{rows.integer(i, 0)}, std::string{rows.text(i, 1)}, std::string{rows.text(i, 2)}});
  }
  return ended;
}

std::vector<TaskRecord> records_in(const Rows& rows) {
  std::vector<TaskRecord> records;
  records.reserve(static_cast<std::size_t>(rows.size()));
  for (int i = 0; i < rows.size(); ++i) records.push_back(read_record(Row{rows, i}));
  return records;
}

std::int64_t limit(std::size_t rows) {
  return static_cast<std::int64_t>(std::min<std::size_t>(rows, std::numeric_limits<std::int64_t>::max()));
}

Params id_params(std::span<const TaskId> ids) {
  Params params;
  Batch<TaskId>{params, ids}.numbers([](TaskId id) { return number(id); });
  return params;
}

}  // namespace easyretry::storage::postgres
