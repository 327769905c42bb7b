#pragma once
// What several statements share: ids that go in, and rows that come out.

#include <cstdint>
#include <span>
#include <vector>

#include "storage/postgres/connection.h"
#include "storage/sql/session.h"

namespace easyretry::storage::postgres {

std::vector<TaskId> ids_in(const Rows& rows);
std::vector<sql::EndedRow> ended_in(const Rows& rows);
std::vector<TaskRecord> records_in(const Rows& rows);

Params id_params(std::span<const TaskId> ids);
std::int64_t limit(std::size_t rows);

}  // namespace easyretry::storage::postgres
