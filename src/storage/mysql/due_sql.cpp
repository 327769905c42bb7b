#include "storage/mysql/due_sql.h"

#include "storage/mysql/inbox_sql.h"
#include "storage/mysql/literals.h"

namespace easyretry::storage::mysql {
namespace {

// Two ranges of the index, so that a page costs nothing for the tasks before it that are due in the same millisecond.
std::string due_after(const ShardCursor& cursor, const std::string& until) {
  if (cursor.place == TimePoint::min()) return "next_retry_time <= " + until;
  const std::string from = literal(cursor.place);
  return "((next_retry_time = " + from + " AND id > " + literal(cursor.id) + " AND next_retry_time <= " + until +
         ") OR (next_retry_time > " + from + " AND next_retry_time <= " + until + "))";
}

// Nonsense, which only a hand can have made, is passed over: it could not be claimed, or its version not be raised.
std::string claimable_in_time(const std::string& now) {
  return " AND version BETWEEN 1 AND 4611686018427387904 AND (status = 'PENDING' OR (status = 'RUNNING' AND "
         "lease_until <= GREATEST(next_retry_time, " +
         now + ")))";
}

// As task::suspicion().
constexpr std::string_view kSuspicion =
    "IF(status = 'RUNNING' OR crash_count > 0, crash_count + 1 + (status = 'RUNNING' AND locked_at IS NOT NULL), 0)";

// Times as they stand in a statement.
struct Scan {
  std::string_view space;
  std::span<const ShardCursor> from;
  std::string now;
  std::string until;
  std::size_t limit;
};

std::string due_rows(const std::string& table, const Scan& scan) {
  const std::string space = bytes(scan.space);
  const std::string end =
      claimable_in_time(scan.now) + " ORDER BY next_retry_time, id LIMIT " + std::to_string(scan.limit) + ")";
  std::string sql;
  for (const ShardCursor& cursor : scan.from) {
    const std::string shard = std::to_string(static_cast<int>(cursor.shard));
    sql.append(sql.empty() ? "(SELECT " : " UNION ALL (SELECT ").append(shard);
    sql.append(", id, version, next_retry_time, method_name, ").append(kSuspicion).append(" FROM ").append(table);
    sql.append(" FORCE INDEX (idx_next_retry) WHERE namespace = ").append(space).append(" AND shard = ").append(shard);
    sql.append(" AND ").append(due_after(cursor, scan.until)).append(end);
  }
  return sql;
}

std::string meta(const std::string& name) {
  return "(SELECT value FROM retry_meta WHERE name = '" + name + "')";
}

}  // namespace

std::string due(const std::string& table, const sql::DueQuery& query) {
  return due_rows(table, {query.space, query.from, literal(query.now), literal(query.until), query.limit});
}

std::string glance(const LoadQuery& query, std::optional<TimePoint> now) {
  return "SELECT " + time_or_servers(now) + ", " + waiting_calls(query.space, query.handlers) + ", " +
         meta("total_shards") + ", " + meta("layout");
}

std::string load(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now) {
  const std::string time = time_or_servers(now);
  return "(SELECT " + std::to_string(kNoShard) + ", " + time + ", " + waiting_calls(query.space, query.handlers) +
         ", 0, " + meta("total_shards") + ", 0) UNION ALL " +
         due_rows(table, {query.space, query.from, time, later(time, query.ahead), query.limit});
}

}  // namespace easyretry::storage::mysql
