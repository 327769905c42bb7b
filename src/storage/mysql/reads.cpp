// Reads of tasks, with locks and without.

#include <algorithm>
#include <iterator>

#include "base/later.h"
#include "storage/list_walk.h"
#include "storage/mysql/session.h"
#include "storage/mysql/statements.h"
#include "storage/mysql/values.h"
#include "task/task_id.h"

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
          suspicion_byte(row.integer(5)),
          task::class_of(row.integer(6)),
          row.integer(7) != 0};
}

// Times as they stand in a statement.
struct Scan {
  std::string_view name_space;
  std::span<const ShardCursor> from;
  std::string now;
  std::string until;
  std::size_t limit;
};

std::string due_rows(const std::string& table, const Scan& scan) {
  const std::string name_space = bytes(scan.name_space);
  const std::string limit = std::to_string(scan.limit);
  std::string all;
  for (const ShardCursor& cursor : scan.from) {
    const std::string shard = std::to_string(static_cast<int>(cursor.shard));
    all.append(all.empty() ? "(" : " UNION ALL (");
    if (cursor.place == TimePoint::min()) {
      all.append(statements::due.with({{"table", table},
                                       {"namespace", name_space},
                                       {"shard", shard},
                                       {"until", scan.until},
                                       {"now", scan.now},
                                       {"limit", limit}}));
    } else {
      all.append(statements::due_after.with({{"table", table},
                                             {"namespace", name_space},
                                             {"shard", shard},
                                             {"from", literal(cursor.place)},
                                             {"after", literal(cursor.id)},
                                             {"until", scan.until},
                                             {"now", scan.now},
                                             {"limit", limit}}));
    }
    all.append(")");
  }
  return all;
}

struct Conditions {
  std::string text{};

  void equal(std::string_view column, std::string_view value) { require(column, " = ", bytes(value)); }
  void in_range(std::string_view column, const TimeRange& range) {
    if (range.from) require(column, " >= ", literal(*range.from));
    if (range.until) require(column, " < ", literal(*range.until));
  }
  void at_least(std::string_view column, std::int64_t number) { require(column, " >= ", literal(number)); }
  void contains(std::string_view column, std::string_view part) {
    text.append(" AND LOCATE(").append(characters(part)).append(", ").append(column).append(") > 0");
  }
  void require(std::string_view condition) { text.append(" AND ").append(condition); }
  void ids_in(const task::IdBounds& bounds) {
    if (bounds.from) require("id", " >= ", literal(*bounds.from));
    if (bounds.until) require("id", " < ", literal(*bounds.until));
  }

 private:
  void require(std::string_view column, std::string_view how, std::string_view value) {
    text.append(" AND ").append(column).append(how).append(value);
  }
};

std::string conditions(const sql::Search& search) {
  Conditions all;
  add_conditions(search.query, search.history, all);
  all.ids_in(task::ids_stored_in(search.query.created_at));  // by the primary key: created_at has no index
  if (search.history && !search.query.requeued) all.require("requeued_as IS NULL");
  if (search.searched) add_searched_conditions(search.query, search.history, all);
  all.ids_in(search.within);
  return std::move(all.text);
}

// A key or a business id is found by its index. How many rows are in a range of time is for the server to judge.
std::string_view index_of(const sql::Search& search, std::string_view otherwise) {
  if (!search.query.key.empty()) return "FORCE INDEX (idx_task_key)";
  if (!search.query.business_id.empty()) return "FORCE INDEX (idx_business)";
  if (search.history && search.query.finished_at.restricts()) return "";
  return otherwise;
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
  return history ? select_records(connection_, statements::ended_records, table, ids, "")
                 : select_records(connection_, statements::live_records, table, ids, connection_.up_to_date());
}

std::vector<TaskRecord> MysqlSession::page(const sql::Search& search) {
  std::vector<TaskRecord> records;
  Rows rows = connection_.select(page_statement(search));
  while (rows.next()) records.push_back(read_record(rows));
  return records;
}

sql::Reach MysqlSession::reach(const sql::Search& search, std::size_t rows) {
  const ListWalk walk{search.query};
  Rows found = connection_.select(statements::reach.with({{"table", search.table},
                                                          {"beyond", walk.beyond()},
                                                          {"from", literal(walk.from())},
                                                          {"direction", walk.direction()},
                                                          {"limit", std::to_string(rows)}}));
  found.next();
  return {found.integer(0), TaskId{found.integer(walk.down() ? 1 : 2)}};
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
  std::ranges::move(due(table, {query.name_space, query.from.subspan(first.from.size()), then,
                                base::later(then, query.ahead), query.limit}),
                    std::back_inserter(page.rows));
  return page;
}

std::string due_statement(const std::string& table, const sql::DueQuery& query) {
  return due_rows(table, {query.name_space, query.from, literal(query.now), literal(query.until), query.limit});
}

std::string load_statement(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now) {
  const std::string time = time_or_servers(now);
  const std::string glance = statements::glance_among_due.with(
      {{"now", time}, {"namespace", in_quotes(escaped(query.name_space))}, {"handlers", handler_list(query.handlers)}});
  return "(" + glance + ") UNION ALL " +
         due_rows(table, {query.name_space, query.from, time, later(time, query.ahead), query.limit});
}

// By the due index, the server would have to read and sort the whole namespace for the first page.
std::string page_statement(const sql::Search& search) {
  const Statement& statement = search.history ? statements::finished_page : statements::live_page;
  const ListWalk walk{search.query};
  return statement.with({{"table", search.table},
                         {"index", index_of(search, "FORCE INDEX (PRIMARY)")},
                         {"beyond", walk.beyond()},
                         {"from", literal(walk.from())},
                         {"conditions", conditions(search)},
                         {"direction", walk.direction()},
                         {"limit", std::to_string(search.query.limit)}});
}

std::string count_statement(const sql::Search& search) {
  return statements::count_tasks.with(
      {{"table", search.table}, {"index", index_of(search, "")}, {"conditions", conditions(search)}});
}

}  // namespace easyretry::storage::mysql
