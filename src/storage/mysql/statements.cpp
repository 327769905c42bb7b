#include "storage/mysql/statements.h"

#include "base/later.h"
#include "storage/mysql/columns.h"
#include "storage/mysql/literals.h"
#include "storage/shard_count.h"

namespace easyretry::storage::mysql {
namespace {

// For a list of most of a small table, reading all of it looks cheaper, and would wait for the rows of others.
constexpr const char* kByPrimary = " FORCE INDEX (PRIMARY) WHERE ";

std::string ticket_list(std::span<const Ticket> tickets) {
  std::string list;
  for (const Ticket& ticket : tickets) {
    list.append(list.empty() ? "((" : ",(").append(literal(ticket.id)).append(",");
    list.append(literal(ticket.version)).append(")");
  }
  return list.append(")");
}

std::string among(std::span<const TaskId> ids) {
  return "id IN " + id_list(ids);
}

// Keys of one namespace, by the index of all keys.
std::string with_keys(const std::string& table, std::string_view space, std::span<const std::string> keys) {
  std::string list;
  for (const std::string& key : keys) list.append(list.empty() ? "(" : ",").append(bytes(key));
  return table + " FORCE INDEX (idx_task_key) WHERE namespace = " + bytes(space) + " AND task_key IN " + list + ")";
}

// A count that a hand has set to the end of its column must not fail the claim of all others.
std::string one_more(const std::string& count, const std::string& when) {
  return count + " = LEAST(" + count + " + (" + when + "), 2147483647)";
}

}  // namespace

std::string insert_head(const std::string& table) {
  return "INSERT INTO " + table + " (" + live_insert_columns() + ") VALUES ";
}

std::string insert_history_head(const std::string& history) {
  return "INSERT INTO " + history + " (" + history_insert_columns() + ") VALUES ";
}

std::string insert_tail() {
  return " ON DUPLICATE KEY UPDATE id = id";
}

std::string stored_keys(const std::string& table, std::span<const TaskId> ids) {
  return "SELECT id, namespace, task_key FROM " + table + kByPrimary + among(ids);
}

std::string live_keys(const std::string& table, std::string_view space, std::span<const std::string> keys) {
  return "SELECT id, version, next_retry_time, task_key FROM " + with_keys(table, space, keys);
}

std::string take_keys_head() {
  return std::string{"INSERT INTO "} + kKeyTable + " (id, namespace, task_key) VALUES ";
}

std::string key_values(const TaskRecord& row) {
  return "(" + literal(row.info.id) + "," + bytes(row.info.space) + "," + bytes(row.info.key) + ")";
}

std::string key_holders(std::string_view space, std::span<const std::string> keys) {
  return "SELECT id, task_key FROM " + with_keys(kKeyTable, space, keys);
}

std::string claimable(const std::string& table, std::span<const Ticket> tickets, TimePoint now) {
  return "SELECT " + live_columns() + ", locked_at FROM " + table + kByPrimary + "(id, version) IN " +
         ticket_list(tickets) + " AND next_retry_time <= " + literal(now) +
         " AND (status = 'PENDING' OR (status = 'RUNNING' AND lease_until <= " + literal(now) +
         ")) ORDER BY id FOR UPDATE SKIP LOCKED";
}

std::string held(const std::string& table, std::span<const Ticket> tickets) {
  return "SELECT id, namespace, method_name FROM " + table + kByPrimary + "(id, version) IN " + ticket_list(tickets) +
         " AND status = 'RUNNING' ORDER BY id FOR UPDATE";
}

std::string hold(const std::string& table, std::span<const TaskId> ids) {
  return "SELECT id FROM " + table + kByPrimary + among(ids) + " ORDER BY id FOR UPDATE";
}

std::string locked(const std::string& table, std::span<const TaskId> ids) {
  return "SELECT " + live_columns() + " FROM " + table + kByPrimary + among(ids) + " ORDER BY id FOR UPDATE";
}

std::string locked_history(const std::string& history, std::span<const TaskId> ids) {
  return "SELECT " + finished_columns() + " FROM " + history + kByPrimary + among(ids) + " ORDER BY id FOR UPDATE";
}

std::string lowest_locked(const sql::Move& move) {
  std::string list;
  for (const ShardId shard : move.shards) {
    list.append(list.empty() ? " AND shard IN (" : ",").append(std::to_string(static_cast<int>(shard)));
  }
  if (!list.empty()) list += ")";
  return "SELECT id FROM " + move.from + kByPrimary + "id > " + literal(move.after) + list + " ORDER BY id LIMIT " +
         std::to_string(move.limit) + " FOR UPDATE";
}

// The counts come first: MariaDB and MySQL assign from left to right, and what follows sees the new status.
std::string claim(const std::string& table, std::span<const TaskId> ids, const ClaimRequest& request, TimePoint now) {
  return "UPDATE " + table + " FORCE INDEX (PRIMARY) SET " +
         one_more("attempt_count", std::string{"status = 'PENDING' AND "} + kIsRun) + ", " +
         one_more("callback_count", std::string{"status = 'PENDING' AND "} + kIsCallback) + ", " +
         one_more("crash_count", "status <> 'PENDING' AND locked_at IS NOT NULL") + ", " +
         one_more("delivery_count", "TRUE") +
         ", status = 'RUNNING', version = version + 1, locked_by = " + bytes(request.owner) +
         ", locked_at = " + (request.begin ? literal(now) : "NULL") +
         ", lease_until = " + literal(base::later(now, request.lease)) + ", updated_at = " + literal(now) + " WHERE " +
         among(ids);
}

std::string extend(const std::string& table, std::span<const TaskId> ids, TimePoint now, TimePoint lease_until) {
  return "UPDATE " + table + " FORCE INDEX (PRIMARY) SET lease_until = " + literal(lease_until) +
         ", updated_at = " + literal(now) + " WHERE " + among(ids);
}

std::string finish_into(const std::string& table, const std::string& history, std::span<const TaskId> ids,
                        Outcome outcome, std::string_view error, TimePoint now) {
  const std::string noted =
      error.empty() ? "first_failed_at, last_error_time, last_error_msg"
                    : "COALESCE(first_failed_at, " + literal(now) + "), " + literal(now) + ", " + error_or_null(error);
  return "INSERT INTO " + history + " (" + history_insert_columns() + ") SELECT " + std::string{carried_columns()} +
         ", version + 1, " + name_or_null(outcome) + ", " + noted + ", " + literal(now) + " FROM " + table +
         kByPrimary + among(ids) + " ON DUPLICATE KEY UPDATE id = " + history + ".id";
}

std::string remove(const std::string& table, std::span<const TaskId> ids) {
  const std::string list = id_list(ids);
  return remove(table, list.substr(1, list.size() - 2));
}

// A join, because MariaDB takes no hint for a DELETE of one table.
std::string remove(const std::string& table, const std::string& ids) {
  return "DELETE t FROM JSON_TABLE('[" + ids + "]', '$[*]' COLUMNS (id BIGINT PATH '$')) AS n STRAIGHT_JOIN " + table +
         " AS t FORCE INDEX (PRIMARY) ON t.id = n.id";
}

std::string copy(const std::string& from, const std::string& to, std::span<const TaskId> ids) {
  const std::string columns = live_insert_columns();
  return "INSERT INTO " + to + " (" + columns + ") SELECT " + columns + " FROM " + from + kByPrimary + among(ids);
}

std::string update(const std::string& table, const TaskRecord& record, TimePoint now) {
  const TaskInfo& info = record.info;
  const auto set = [](const char* column, const std::string& value) { return std::string{column} + " = " + value; };
  return "UPDATE " + table + " SET " + set("status", "'" + std::string{to_string(info.state)} + "'") +
         set(", stage", "'" + std::string{to_string(info.stage)} + "'") + set(", outcome", name_or_null(info.outcome)) +
         set(", version", literal(info.version)) + set(", attempt_count", literal(info.attempts)) +
         set(", callback_count", literal(record.callback_attempts)) + set(", crash_count", literal(info.crashes)) +
         set(", delivery_count", literal(info.deliveries)) + set(", next_retry_time", literal(info.next_at)) +
         set(", first_failed_at", maybe_time(info.first_failed_at)) +
         set(", last_error_time", maybe_time(info.last_failed_at)) +
         set(", last_error_msg", error_or_null(info.last_error)) +
         set(", max_attempts", literal(record.rules.max_attempts)) +
         set(", max_retry_duration", literal(record.rules.max_duration.count())) +
         set(", deadline", maybe_time(record.rules.deadline)) +
         set(", backoff_strategy", bytes_or_null(record.rules.backoff)) +
         set(", result_json", bytes_or_null(record.result)) + set(", progress", bytes_or_null(info.progress)) +
         set(", locked_at", record.locked_by.empty() ? "NULL" : "locked_at") +
         set(", locked_by", bytes_or_null(record.locked_by)) + set(", lease_until", literal(record.lease_until)) +
         set(", updated_at", literal(now)) + " WHERE id = " + literal(info.id);
}

std::string mark_requeued(const std::string& history, const sql::Requeued& requeued) {
  return "UPDATE " + history + " SET requeued_as = " + literal(requeued.as) + " WHERE id = " + literal(requeued.id);
}

std::string renumber(const ShardPageQuery& query, TaskId last) {
  const std::string shard = shard_by_id(query.total_shards);
  return "UPDATE " + query.table + " FORCE INDEX (PRIMARY) SET shard = " + shard + " WHERE id > " +
         literal(query.after) + " AND id <= " + literal(last) + " AND shard <> " + shard;
}

std::string shard_page(const ShardPageQuery& query, TimePoint now) {
  return "SELECT COUNT(*), COALESCE(SUM(shard <> " + shard_by_id(query.total_shards) +
         "), 0), COALESCE(SUM(leased), 0), COALESCE(MAX(id), 0), COALESCE(MAX(IF(leased, locked_by, NULL)), '') FROM "
         "(SELECT id, shard, locked_by, status = 'RUNNING' AND lease_until > " +
         literal(now) + " AS leased FROM " + query.table + kByPrimary + "id > " + literal(query.after) +
         " ORDER BY id LIMIT " + std::to_string(query.limit) + ") AS page";
}

std::string found(const std::string& table, bool history, std::span<const TaskId> ids) {
  return "SELECT " + (history ? finished_columns() : live_columns()) + " FROM " + table + kByPrimary + among(ids);
}

}  // namespace easyretry::storage::mysql
