// Reads of tasks, with locks and without.

#include <algorithm>
#include <iterator>

#include "base/later.h"
#include "storage/mysql/session.h"
#include "storage/mysql/statements.h"
#include "storage/mysql/values.h"

namespace easyretry::storage::mysql {
namespace {

// Calls read(rows) for each row of the statement, which has {table}, {ids} and {lock}. In ascending order of ids.
template <class Read>
void select_by_ids(Connection& connection, const Statement& statement, const std::string& table,
                   std::span<const TaskId> ids, std::string_view lock, Read read) {
  std::vector<TaskId> sorted{ids.begin(), ids.end()};
  std::ranges::sort(sorted);
  by_pieces(std::span<const TaskId>{sorted}, [&](std::span<const TaskId> piece) {
    Rows rows = connection.select(statement.with({{"table", table}, {"ids", id_list(piece)}, {"lock", lock}}));
    while (rows.next()) read(rows);
  });
}

std::vector<TaskRecord> select_records(Connection& connection, const Statement& statement, const std::string& table,
                                       std::span<const TaskId> ids, std::string_view lock) {
  std::vector<TaskRecord> records;
  select_by_ids(connection, statement, table, ids, lock,
                [&](const Rows& rows) { records.push_back(read_record(rows)); });
  return records;
}

sql::DueRow due_row(const Rows& row) {
  const TimePoint next_at = from_ms(row.integer(3));
  return {ShardId{static_cast<std::uint16_t>(row.integer(0))},
          {TaskId{row.integer(1)}, row.integer(2)},
          next_at,
          std::string{row.text(4)},
          next_at,
          suspicion_byte(row.integer(5))};
}

}  // namespace

void MysqlSession::hold(const std::string& table, std::span<const TaskId> ids) {
  select_by_ids(connection_, statements::lock_ids, table, ids, connection_.for_update_of_many(), [](const Rows&) {});
}

std::vector<TaskId> MysqlSession::hold_free(const std::string& table, std::span<const TaskId> ids) {
  std::vector<TaskId> free;
  select_by_ids(connection_, statements::lock_ids, table, ids, "FOR UPDATE SKIP LOCKED",
                [&](const Rows& rows) { free.push_back(TaskId{rows.integer(0)}); });
  return free;
}

std::vector<TaskRecord> MysqlSession::lock(const std::string& table, std::span<const TaskId> ids) {
  return select_records(connection_, statements::live_records, table, ids, connection_.for_update());
}

std::vector<TaskRecord> MysqlSession::lock_history(const std::string& history, std::span<const TaskId> ids) {
  return select_records(connection_, statements::finished_records, history, ids, "FOR UPDATE");
}

std::vector<TaskRecord> MysqlSession::find(const std::string& table, bool history, std::span<const TaskId> ids) {
  return history ? select_records(connection_, statements::finished_records, table, ids, "")
                 : select_records(connection_, statements::live_records, table, ids, connection_.up_to_date());
}

std::vector<TaskRecord> MysqlSession::page(const sql::Search& search) {
  std::vector<TaskRecord> records;
  Rows rows = connection_.select(page_statement(search));
  while (rows.next()) records.push_back(read_record(rows));
  return records;
}

std::int64_t MysqlSession::count(const sql::Search& search) {
  return std::stoll(connection_.ask(count_statement(search)));
}

std::vector<sql::DueRow> MysqlSession::due(const std::string& table, const sql::DueQuery& query) {
  std::vector<sql::DueRow> due;
  if (query.limit == 0) return due;
  by_pieces(query.from, [&](std::span<const ShardCursor> piece) {
    sql::DueQuery some = query;
    some.from = piece;
    Rows rows = connection_.select(due_statement(table, some));
    while (rows.next()) due.push_back(due_row(rows));
  });
  return due;
}

// If there are too many shards for one statement, others ask for the rest, as of the same moment.
sql::DuePage MysqlSession::load(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now) {
  LoadQuery first = query;
  first.from = query.from.first(std::min(query.from.size(), kMostRows));
  sql::DuePage page;
  Rows rows = connection_.select(load_statement(table, first, now));
  while (rows.next()) {
    if (rows.integer(0) != kNoShard) {
      page.rows.push_back(due_row(rows));
      continue;
    }
    page.glance = {.now = from_ms(rows.integer(1)), .inbox = rows.integer(2) != 0};
    if (!rows.is_null(4)) page.glance.total_shards = rows.text(4);
  }
  const TimePoint then = page.glance.now;
  std::ranges::move(due(table, {query.space, query.from.subspan(first.from.size()), then,
                                base::later(then, query.ahead), query.limit}),
                    std::back_inserter(page.rows));
  return page;
}

}  // namespace easyretry::storage::mysql
