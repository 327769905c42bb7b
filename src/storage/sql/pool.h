#pragma once

#include "storage/connection_pool.h"
#include "storage/sql/session.h"

namespace easyretry::storage::sql {

using Pool = ConnectionPool<Session>;

}  // namespace easyretry::storage::sql
