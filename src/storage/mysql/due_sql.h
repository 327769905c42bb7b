#pragma once

#include <optional>
#include <string>

#include "storage/sql/session.h"

namespace easyretry::storage::mysql {

// shard, id, version, next_at and handler of what is claimable now or when its time comes: for each shard by
// (next_at, id). MariaDB has no LATERAL, so a shard is a SELECT of its own.
std::string due(const std::string& table, const sql::DueQuery& query);

// Time, whether the inbox has something, total_shards, layout.
std::string glance(const LoadQuery& query, std::optional<TimePoint> now);

// Both at once: the columns of due, and among them, with kNoShard, a row of time, inbox, 0 and total_shards.
std::string load(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now);
inline constexpr int kNoShard = -1;

}  // namespace easyretry::storage::mysql
