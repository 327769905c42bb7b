#pragma once

#include <string>

#include "storage/sql/session.h"

namespace easyretry::storage::mysql {

// shard, id, version, next_at and handler of what is claimable now or when its time comes: for each shard by
// (next_at, id). MariaDB has no LATERAL, so a shard is a SELECT of its own.
std::string due(const std::string& table, const sql::DueQuery& query);

}  // namespace easyretry::storage::mysql
