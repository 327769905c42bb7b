#pragma once

#include "storage/server/connection_pool.h"
#include "storage/sql/session.h"

namespace easyretry::storage::sql {

using Pool = server::ConnectionPool<Session>;

}  // namespace easyretry::storage::sql
