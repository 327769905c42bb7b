#pragma once

#include "storage/record_columns.h"
#include "storage/sqlite/connection.h"

namespace easyretry::storage::sqlite {

// Goes behind the table of tasks. LEFT: a task whose call is gone, which only a hand can have done, still is a task, to
// be parked and seen.
inline constexpr const char* kWithCall = " LEFT JOIN retry_call USING (id)";

// The same for a month of history, with the marks of what was requeued.
inline constexpr const char* kWithCallAndMark = " LEFT JOIN retry_call USING (id) LEFT JOIN retry_requeued USING (id)";

// Of a month of history. By the primary key of a small table, so that indexes of the month still answer alone.
inline constexpr const char* kNotRequeued = "id NOT IN (SELECT id FROM retry_requeued)";

}  // namespace easyretry::storage::sqlite
