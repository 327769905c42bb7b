#include <algorithm>
#include <iterator>

#include "storage/history.h"
#include "storage/postgres/session.h"
#include "storage/postgres/statements.h"
#include "storage/server/server_error.h"
#include "storage/sql/tables.h"

namespace easyretry::storage::postgres {

using server::ServerError;

std::vector<std::string> PostgresSchema::tables() {
  const Rows rows = db_.run(statements::tables);
  return rows.each([&](int row) { return rows.str(row, 0); });
}

std::vector<sql::TableFacts> PostgresSchema::table_facts() {
  const Rows rows = db_.run(statements::table_facts, Params{});
  return rows.each([&](int row) {
    return sql::TableFacts{rows.str(row, 0), rows.integer(row, 1), rows.integer(row, 2)};
  });
}

void PostgresSchema::create_tasks(const std::string& table, sql::UniqueKeys keys) {
  const std::string_view unique = keys == sql::UniqueKeys::in_task_table ? "UNIQUE" : "";
  complete(table);
  define(table, statements::create_tasks.with({{"table", table}, {"unique", unique}}));
}

void PostgresSchema::create_keys() {
  define("retry_task_key", statements::create_keys.str());
}

void PostgresSchema::create_history(const std::string& table) {
  complete(table);
  define(table, statements::create_history.with({{"table", table}}));
}

void PostgresSchema::complete(const std::string& table) {
  for (const int version : {2, 5, 7}) {
    for (const std::string& statement : new_columns(version, table)) define(table, statement);
  }
}

std::vector<std::string> PostgresSchema::new_columns(int version, const std::string& table) {
  const bool history = month_of_history_table(table).has_value();
  if (version == 2 && history && lacks(table, "requeued_as")) {
    return {statements::add_requeued_as.with({{"table", table}})};
  }
  if (version == 5 && sql::has_tasks(table) && lacks(table, "attempt_log")) {
    return {statements::add_attempt_log.with({{"table", table}})};
  }
  if (version == 7 && sql::has_tasks(table) && lacks(table, "task_class")) {
    return {statements::add_task_class.with({{"table", table}})};
  }
  return {};
}

bool PostgresSchema::lacks(std::string_view table, std::string_view column) {
  return db_.run(statements::lacks_column, Params{}.add(table).add(column)).size() > 0;
}

void PostgresSchema::drop(const std::string& table) {
  define(table, statements::drop_table.with({{"table", table}}));
}

bool PostgresSchema::drop_empty(const std::string& table) {
  const std::string begin = statements::lock_table.with({{"settings", settings_of_transaction(db_)}, {"table", table}});
  return in_transaction(begin, [&] {
    const bool empty = db_.run(statements::any_row.with({{"table", table}})).size() == 0;
    if (empty) db_.run(statements::drop_table.with({{"table", table}}));
    return empty;
  });
}

template <class Body>
bool PostgresSchema::in_transaction(const std::string& begin, Body body) {
  try {
    db_.run(begin);
    const bool done = body();
    db_.run("COMMIT");
    return done;
  } catch (const ServerError&) {
    if (!db_.broken()) db_.roll_back();
    throw;
  }
}

void PostgresSchema::note(const KeepStep& step, TimePoint now, TimePoint forget_before) {
  Params params;
  params.add(to_ms(now)).add(sql::action_of(step)).add(step.table).add(step.rows);
  db_.run(statements::log_step, params);
  db_.run(statements::forget_steps, Params{}.add(to_ms(forget_before)));
}

std::vector<std::string> PostgresSchema::migration(int version) {
  if (version == 1) {
    return {statements::create_meta.str(), statements::create_counts.str(), statements::create_members.str(),
            statements::create_pauses.str(), statements::create_inbox.str()};
  }
  const std::vector<std::string> there = tables();
  std::vector<std::string> steps;
  if (version == 3 && std::ranges::count(there, "retry_retention") == 0) {
    steps.push_back(statements::create_retention.str());
  }
  if (version == 4 && std::ranges::count(there, "retry_result") == 0) steps.push_back(statements::create_results.str());
  if (version == 6 && std::ranges::count(there, "retry_series") == 0) steps.push_back(statements::create_series.str());
  for (const std::string& table : there) std::ranges::move(new_columns(version, table), std::back_inserter(steps));
  return steps;
}

void PostgresSchema::define(const std::string& what, const std::string& statement) {
  try {
    db_.run(statements::one_at_a_time.with({{"settings", settings_of_transaction(db_)}, {"statement", statement}}));
  } catch (const ServerError& error) {
    if (!db_.broken()) db_.roll_back();
    throw ServerError{error.trouble(), what + ": " + error.what()};
  }
}

std::optional<std::string> PostgresSchema::meta(const std::string& name) {
  const Rows rows = db_.run(statements::read_meta, Params{}.add(name));
  return rows.size() == 0 ? std::nullopt : std::optional{rows.str(0, 0)};
}

std::string PostgresSchema::agree(const std::string& name, const std::string& value) {
  db_.run(statements::add_meta, Params{}.add(name).add(value));
  return meta(name).value_or(value);
}

std::string PostgresSchema::hold_layout() {
  const std::string_view for_share = db_.is_borrowed() ? "FOR SHARE" : "";
  return db_.run(statements::hold_layout.with({{"for_share", for_share}})).str(0, 0);
}

bool PostgresSchema::change_meta(const std::string& name, const std::string& from, const std::string& to) {
  return in_transaction(statements::begin_change.with({{"settings", settings_of_transaction(db_)}}), [&] {
    return db_.run(statements::change_meta, Params{}.add(name).add(from).add(to)).size() == 1;
  });
}

sql::Moved PostgresSchema::move(const sql::Move& move) {
  const std::string_view condition = move.shards.empty() ? "" : "AND shard = ANY($3::bigint[])";
  Params params;
  params.add(limit(move.limit)).add(number(move.after));
  if (!move.shards.empty()) {
    Batch<ShardId>{params, move.shards}.numbers([](ShardId shard) { return static_cast<std::int64_t>(shard); });
  }
  const Rows moved =
      db_.run(statements::move.with({{"from", move.from}, {"to", move.to}, {"condition", condition}}), params);
  return {static_cast<std::size_t>(moved.integer(0, 0)), TaskId{moved.integer(0, 1)}};
}

ShardPage PostgresSchema::shard_page(const ShardPageQuery& query, TimePoint now) {
  const std::string shard = shard_by_id(query.total_shards);
  const Rows rows = db_.run(statements::shard_page.with({{"table", query.table}, {"shard", shard}}),
                            Params{}.add(number(query.after)).add(limit(query.limit)).add(to_ms(now)));
  return {.rows = rows.integer(0, 0),
          .misnumbered = rows.integer(0, 1),
          .leased = rows.integer(0, 2),
          .last = TaskId{rows.integer(0, 3)},
          .holder = rows.str(0, 4)};
}

void PostgresSchema::renumber(const ShardPageQuery& query, TaskId last) {
  const std::string shard = shard_by_id(query.total_shards);
  db_.run(statements::renumber.with({{"table", query.table}, {"shard", shard}}),
          Params{}.add(number(query.after)).add(number(last)));
}

Durability PostgresSchema::durability() {
  if (setting("fsync") != "on")
    return {"a crash of the server process; fsync is off, so a crash of its machine may lose or damage everything"};
  if (setting("synchronous_commit") == "off")
    return {"nothing for sure: synchronous_commit is off, so a crash may lose the last moments", true};
  return {"a crash of the server or its operating system, and a power cut"};
}

std::string PostgresSchema::missing() {
  if (!db_.behind_pooler()) return {};
  return "behind a pooler: statements are not prepared, and tasks of other processes are polled for instead of LISTEN";
}

}  // namespace easyretry::storage::postgres
