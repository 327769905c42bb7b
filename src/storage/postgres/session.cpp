#include "storage/postgres/session.h"

#include <utility>

#include "storage/list_walk.h"
#include "storage/postgres/statements.h"
#include "task/task_id.h"

namespace easyretry::storage::postgres {
namespace {

using server::ServerError;
using server::Trouble;

// The oldest that was tried (docs/engines.md).
constexpr int kOldest = 12;

// With an encoding that lacks characters, some tasks could not be stored, and some could not be settled because of the
// text of their error.
void check_encoding(const Connection& db) {
  if (db.encoding() == "UTF8") return;
  throw ServerError{Trouble::refused,
                    "the database's encoding is " + db.encoding() +
                        ", but tasks are UTF-8: create one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE "
                        "template0"};
}

TimePoint time_in(const Rows& rows) {
  return from_ms(std::stoll(rows.str(0, 0)));
}

void append(std::string& script, const Statement& statement) {
  script.append(statement.text).append("; ");
}

Params cursors(std::string_view name_space, std::span<const ShardCursor> from) {
  Params params;
  Batch<ShardCursor>{params, from}
      .numbers([&](const ShardCursor& cursor) { return lane_of(name_space, cursor.shard); })
      .numbers([](const ShardCursor& cursor) { return to_ms(cursor.place); })
      .numbers([](const ShardCursor& cursor) { return number(cursor.id); });
  params.add(name_space);
  return params;
}

sql::DueRow due_row(const Rows& rows, int i) {
  return {shard_in(static_cast<std::int32_t>(rows.integer(i, 0))),
          {TaskId{rows.integer(i, 1)}, rows.integer(i, 2)},
          from_ms(rows.integer(i, 3)),
          rows.str(i, 4),
          from_ms(rows.integer(i, 5)),
          suspicion_byte(rows.integer(i, 6)),
          task::class_of(rows.integer(i, 7)),
          rows.integer(i, 8) != 0};
}

// The row without a lane: the server's time, whether the inbox has calls, and total_shards.
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
    params_.add(text);
    compare(column, " = ");
  }
  void in_range(std::string_view column, const TimeRange& range) {
    bound(column, " >= ", range.from);
    bound(column, " < ", range.until);
  }
  void at_least(std::string_view column, std::int64_t number) {
    params_.add(number);
    compare(column, " >= ");
  }
  void contains(std::string_view column, std::string_view text) {
    params_.add(text);
    sql_.append(" AND strpos(").append(column).append(", $").append(std::to_string(params_.size())).append(") > 0");
  }
  void require(std::string_view condition) { sql_.append(" AND ").append(condition); }
  void ids_in(const task::IdBounds& bounds) {
    bound(" >= ", bounds.from);
    bound(" < ", bounds.until);
  }
  std::string take() { return std::move(sql_); }

 private:
  void bound(std::string_view column, std::string_view how, const std::optional<TimePoint>& time) {
    if (!time) return;
    params_.add(to_ms(*time));
    compare(column, how);
  }
  void bound(std::string_view how, const std::optional<TaskId>& id) {
    if (!id) return;
    params_.add(number(*id));
    compare("id", how);
  }
  void compare(std::string_view column, std::string_view how) {
    sql_.append(" AND ").append(column).append(how).append("$").append(std::to_string(params_.size()));
  }

  Params& params_;
  std::string sql_;
};

// The conditions of a list or a count: " AND …".
std::string conditions(const sql::Search& search, Params& params) {
  Conditions all{params};
  add_conditions(search.query, search.history, all);
  all.ids_in(task::ids_stored_in(search.query.created_at));  // by the primary key: created_at has no index
  if (search.history && !search.query.requeued) all.require("requeued_as IS NULL");
  if (search.searched) add_searched_conditions(search.query, search.history, all);
  all.ids_in(search.within);
  return all.take();
}

}  // namespace

void check_version(int version) {
  const int major = version / 10000;
  if (major >= kOldest) return;
  throw ServerError{Trouble::refused, "the server is PostgreSQL " + std::to_string(major) +
                                          "; EasyRetry needs PostgreSQL " + std::to_string(kOldest) + " or newer"};
}

std::string settings_of_transaction(const Connection& db) {
  return db.behind_pooler() ? statements::settings.with({{"local", "LOCAL"}}) + ";" : "";
}

PostgresSession::PostgresSession(const std::string& settings, std::shared_ptr<NewKeys> new_keys,
                                 const server::Demotions& demotions)
    : Session(ledger_, schema_), db_(settings, demotions), new_keys_(std::move(new_keys)) {
  check_version(db_.server_version());
  check_encoding(db_);
  if (!db_.behind_pooler()) db_.run(statements::settings.with({{"local", ""}}));
}

PostgresSession::PostgresSession(PGconn* borrowed) : Session(ledger_, schema_), db_(borrowed) {}

TimePoint PostgresSession::begin(Promise promise) {
  std::string settings = settings_of_transaction(db_);
  if (lock_wait_ == sql::LockWait::brief) append(settings, statements::brief_lock_timeout);
  if (lock_wait_ == sql::LockWait::none) append(settings, statements::least_lock_timeout);
  if (promise != Promise::kept) append(settings, statements::async_commit);
  return time_in(db_.run(statements::begin.with({{"settings", settings}})));
}

// If the transaction has failed before, COMMIT rolls it back without an error.
void PostgresSession::commit() {
  const Rows done = db_.run(ledger_.insert_sums() + "COMMIT");
  if (std::string_view{PQcmdStatus(done.get())} != "COMMIT") {
    throw ServerError{Trouble::again, "the transaction was rolled back"};
  }
}

TimePoint PostgresSession::now() {
  return time_in(db_.run(statements::now));
}

sql::DuePage PostgresSession::load(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now) {
  const std::vector<std::string_view> handlers{query.handlers.begin(), query.handlers.end()};
  Params params = cursors(query.name_space, query.from);
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
  Params params = cursors(query.name_space, query.from);
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
  const std::string page = page_statement(search, params);
  return db_.run(page, params).records();
}

sql::Reach PostgresSession::reach(const sql::Search& search, std::size_t rows) {
  const ListWalk walk{search.query};
  const std::string reach =
      statements::reach.with({{"table", search.table}, {"beyond", walk.beyond()}, {"direction", walk.direction()}});
  const Rows found = db_.run(reach, Params{}.add(number(walk.from())).add(limit(rows)));
  return {found.integer(0, 0), TaskId{found.integer(0, walk.down() ? 1 : 2)}};
}

std::int64_t PostgresSession::count(const sql::Search& search) {
  Params params;
  const std::string which = conditions(search, params);
  return db_.run(statements::count_rows.with({{"table", search.table}, {"conditions", which}}), params).integer(0, 0);
}

std::string page_statement(const sql::Search& search, Params& params) {
  const ListWalk walk{search.query};
  params.add(number(walk.from())).add(limit(search.query.limit));
  const std::string which = conditions(search, params);
  return (search.history ? statements::page_of_ended : statements::page_of_tasks)
      .with(
          {{"table", search.table}, {"beyond", walk.beyond()}, {"conditions", which}, {"direction", walk.direction()}});
}

}  // namespace easyretry::storage::postgres
