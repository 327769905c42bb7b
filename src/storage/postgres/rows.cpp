#include "storage/postgres/rows.h"

#include <algorithm>
#include <limits>

#include "storage/postgres/batch.h"

namespace easyretry::storage::postgres {

std::vector<TaskId> ids_in(const Rows& rows) {
  return rows.each([&](int row) { return TaskId{rows.integer(row, 0)}; });
}

std::vector<sql::EndedRow> ended_in(const Rows& rows) {
  return rows.each([&](int row) {
    return sql::EndedRow{TaskId{rows.integer(row, 0)}, std::string{rows.text(row, 1)}, std::string{rows.text(row, 2)}};
  });
}

std::vector<TaskRecord> records_in(const Rows& rows) {
  return rows.each([&](int row) { return read_record(Row{rows, row}); });
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
