// PostgresSession: due tasks, records by id, lists and counts.

#include "storage/postgres/session.h"
#include "storage/postgres/statements.h"
#include "storage/sql/lane.h"

namespace easyretry::storage::postgres {
namespace {

Params cursors(std::string_view space, std::span<const ShardCursor> from) {
  Params params;
  Batch<ShardCursor>{params, from}
      .numbers([&](const ShardCursor& cursor) { return sql::lane_of(space, cursor.shard); })
      .numbers([](const ShardCursor& cursor) { return to_ms(cursor.place); })
      .numbers([](const ShardCursor& cursor) { return number(cursor.id); });
  params.add(space);
  return params;
}

sql::DueRow due_row(const Rows& rows, int i) {
  return {sql::shard_in(static_cast<std::int32_t>(rows.integer(i, 0))),
          {TaskId{rows.integer(i, 1)}, rows.integer(i, 2)},
          from_ms(rows.integer(i, 3)),
          rows.str(i, 4),
          from_ms(rows.integer(i, 5)),
          suspicion_byte(rows.integer(i, 6))};
}

// Without a lane: the server's time, whether the inbox has calls, and total_shards.
sql::Glance glance_in(const Rows& rows, int i) {
  sql::Glance glance{.now = from_ms(rows.integer(i, 1)), .inbox = rows.integer(i, 2) != 0};
  if (!rows.is_null(i, 4)) glance.total_shards = rows.str(i, 4);
  return glance;
}

// Appends conditions, and their values to the parameters.
class Conditions {
 public:
  explicit Conditions(Params& params) : params_(params) {}

  void equal(std::string_view column, std::string_view text) {
    if (text.empty()) return;
    params_.add(text);
    compare(column, " = ");
  }
  void in_range(std::string_view column, const TimeRange& range) {
    bound(column, " >= ", range.from);
    bound(column, " < ", range.until);
  }
  void require(std::string_view condition) { sql_.append(" AND ").append(condition); }
  std::string take() { return std::move(sql_); }

 private:
  void bound(std::string_view column, std::string_view how, const std::optional<TimePoint>& time) {
    if (!time) return;
    params_.add(to_ms(*time));
    compare(column, how);
  }
  void compare(std::string_view column, std::string_view how) {
    sql_.append(" AND ").append(column).append(how).append("$").append(std::to_string(params_.size()));
  }

  Params& params_;
  std::string sql_;
};

}  // namespace

sql::DuePage PostgresSession::load(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now) {
  const std::vector<std::string_view> handlers{query.handlers.begin(), query.handlers.end()};
  Params params = cursors(query.space, query.from);
  params.add(query.ahead.count()).add(ms(now)).add(limit(query.limit)).add(handlers);
  const Rows rows = db_.run(statements::load.with({{"table", table}}), params);
  sql::DuePage page;
  page.rows.reserve(static_cast<std::size_t>(rows.size()));
  for (int i = 0; i < rows.size(); ++i) {
    if (rows.is_null(i, 0)) {
      page.glance = glance_in(rows, i);
    } else {
      page.rows.push_back(due_row(rows, i));
    }
  }
  return page;
}

std::vector<sql::DueRow> PostgresSession::due(const std::string& table, const sql::DueQuery& query) {
  Params params = cursors(query.space, query.from);
  params.add(to_ms(query.until)).add(to_ms(query.now)).add(limit(query.limit));
  const Rows rows = db_.run(statements::due.with({{"table", table}}), params);
  return rows.each([&](int row) { return due_row(rows, row); });
}

std::vector<TaskRecord> PostgresSession::find(const std::string& table, bool history, std::span<const TaskId> ids) {
  const Statement& find = history ? statements::find_ended : statements::find_tasks;
  return db_.run(find.with({{"table", table}}), id_params(ids)).records();
}

std::vector<TaskRecord> PostgresSession::page(const sql::Search& search) {
  Params params;
  params.add(number(search.query.after)).add(limit(search.query.limit));
  const std::string which = conditions(search, params);
  const Statement& page = search.history ? statements::page_of_ended : statements::page_of_tasks;
  return db_.run(page.with({{"table", search.table}, {"conditions", which}}), params).records();
}

std::int64_t PostgresSession::count(const sql::Search& search) {
  Params params;
  const std::string which = conditions(search, params);
  return db_.run(statements::count_rows.with({{"table", search.table}, {"conditions", which}}), params).integer(0, 0);
}

std::string conditions(const sql::Search& search, Params& params) {
  const TaskQuery& query = search.query;
  Conditions all{params};
  all.equal("namespace", query.space);
  all.equal("task_key", query.key);
  all.equal("method_name", query.handler);
  all.equal("business_type", query.business_type);
  all.equal("business_id", query.business_id);
  if (query.outcome) all.equal("outcome", to_string(*query.outcome));
  if (query.state && !search.history) all.equal("status", to_string(*query.state));
  all.in_range("created_at", query.created_at);
  if (search.history) all.in_range("finished_at", query.finished_at);
  if (search.history && !query.requeued) all.require("requeued_as IS NULL");
  if (!search.history && query.finished_at.restricts()) all.require("FALSE");
  // History has no column for the state: all its tasks have ended.
  if (query.state && search.history && *query.state != TaskState::finished) all.require("FALSE");
  return all.take();
}

}  // namespace easyretry::storage::postgres
