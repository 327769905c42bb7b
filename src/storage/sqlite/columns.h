#pragma once

#include "storage/record_columns.h"
#include "storage/sqlite/connection.h"

namespace easyretry::storage::sqlite {

// Goes behind the table of tasks. LEFT: a task whose call is gone, which only a hand can have done, still is a task, to
// be parked and seen.
inline constexpr const char* kWithCall = " LEFT JOIN retry_call USING (id)";

}  // namespace easyretry::storage::sqlite
