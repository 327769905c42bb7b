#include "storage/mysql/due_sql.h"

#include "storage/mysql/literals.h"

namespace easyretry::storage::mysql {
namespace {

// Two ranges of the index, so that a page costs nothing for the tasks before it that are due in the same millisecond.
std::string due_after(const ShardCursor& cursor, TimePoint until) {
  const std::string last = literal(until);
  if (cursor.place == TimePoint::min()) return "next_retry_time <= " + last;
  const std::string from = literal(cursor.place);
  return "((next_retry_time = " + from + " AND id > " + literal(cursor.id) + " AND next_retry_time <= " + last +
         ") OR (next_retry_time > " + from + " AND next_retry_time <= " + last + "))";
}

// Nonsense, which only a hand can have made, is passed over: it could not be claimed, or its version not be raised.
std::string claimable_in_time(TimePoint now) {
  return " AND version BETWEEN 1 AND 4611686018427387904 AND (status = 'PENDING' OR (status = 'RUNNING' AND "
         "lease_until <= GREATEST(next_retry_time, " +
         literal(now) + ")))";
}

}  // namespace

std::string due(const std::string& table, const sql::DueQuery& query) {
  const std::string space = bytes(query.space);
  const std::string end =
      claimable_in_time(query.now) + " ORDER BY next_retry_time, id LIMIT " + std::to_string(query.limit) + ")";
  std::string sql;
  for (const ShardCursor& cursor : query.from) {
    const std::string shard = std::to_string(static_cast<int>(cursor.shard));
    sql.append(sql.empty() ? "(SELECT " : " UNION ALL (SELECT ").append(shard);
    sql.append(", id, version, next_retry_time, method_name FROM ").append(table);
    sql.append(" FORCE INDEX (idx_next_retry) WHERE namespace = ").append(space).append(" AND shard = ").append(shard);
    sql.append(" AND ").append(due_after(cursor, query.until)).append(end);
  }
  return sql;
}

}  // namespace easyretry::storage::mysql
