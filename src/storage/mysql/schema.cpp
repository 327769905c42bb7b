#include <algorithm>
#include <iterator>

#include "storage/history.h"
#include "storage/mysql/session.h"
#include "storage/mysql/statements.h"
#include "storage/mysql/values.h"
#include "storage/server/server_error.h"
#include "storage/sql/tables.h"

namespace easyretry::storage::mysql {
namespace {

std::string lost_in_power_cut(const std::string& flush, bool binlog, const std::string& sync_binlog) {
  if (flush == "0" || flush == "2") {
    return "innodb_flush_log_at_trx_commit=" + flush + ", so a power cut may lose the last second";
  }
  if (binlog && sync_binlog != "1") {
    return "sync_binlog=" + sync_binlog + ", so a power cut may lose what the binary log has not written to disk";
  }
  return {};
}

std::string shard_condition(std::span<const ShardId> shards) {
  if (shards.empty()) return {};
  return "AND shard IN (" + list_of(shards, [](ShardId shard) { return literal(static_cast<int>(shard)); }) + ")";
}

}  // namespace

std::vector<std::string> MysqlSchema::tables() {
  Rows rows = connection_.select(statements::table_names.str());
  std::vector<std::string> names;
  while (rows.next()) names.emplace_back(rows.text(0));
  std::ranges::sort(names);
  return names;
}

std::vector<sql::TableFacts> MysqlSchema::table_facts() {
  Rows rows = connection_.select(statements::table_facts.str());
  std::vector<sql::TableFacts> facts;
  while (rows.next()) facts.push_back({std::string{rows.text(0)}, rows.integer(1), rows.integer(2)});
  return facts;
}

void MysqlSchema::create_tasks(const std::string& table, sql::UniqueKeys keys) {
  const char* const unique = keys == sql::UniqueKeys::in_task_table ? "UNIQUE" : "";
  complete(table);
  define(table, statements::create_tasks.with({{"table", table}, {"unique", unique}}));
  define(table, statements::check_tasks.with({{"table", table}}));
}

void MysqlSchema::create_keys() {
  define(kKeyTable, statements::create_keys.str());
  define(kKeyTable, statements::check_keys.str());
}

void MysqlSchema::create_history(const std::string& table) {
  complete(table);
  define(table, statements::create_history.with({{"table", table}}));
  define(table, statements::check_history.with({{"table", table}}));
}

bool MysqlSchema::lacks(const std::string& table, const std::string& column) {
  return connection_.select(statements::lacks_column.with({{"table", table}, {"column", column}})).next();
}

std::vector<std::string> MysqlSchema::new_columns(int version, const std::string& table) {
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

void MysqlSchema::complete(const std::string& table) {
  for (const int version : {2, 5, 7}) {
    try {
      for (const std::string& statement : new_columns(version, table)) define(table, statement);
    } catch (const server::ServerError&) {
      const bool added_by_another = !connection_.broken() && new_columns(version, table).empty();
      if (!added_by_another) throw;
    }
  }
}

void MysqlSchema::drop(const std::string& table) {
  connection_.run("DROP TABLE IF EXISTS " + table);
}

bool MysqlSchema::drop_empty(const std::string& table) {
  connection_.run("LOCK TABLES " + table + " WRITE");
  try {
    const bool empty = !connection_.select("SELECT 1 FROM " + table + " LIMIT 1").next();
    if (empty) connection_.run("DROP TABLE " + table);
    connection_.run("UNLOCK TABLES");
    return empty;
  } catch (...) {
    connection_.give_up();  // the locks end with the connection
    throw;
  }
}

void MysqlSchema::note(const KeepStep& step, TimePoint now, TimePoint forget_before) {
  connection_.run(statements::note_keeper_step.with({{"now", literal(now)},
                                                     {"action", bytes(sql::action_of(step))},
                                                     {"table", bytes(step.table)},
                                                     {"row_count", literal(step.rows)}}));
  connection_.run(statements::forget_keeper_steps.with({{"before", literal(forget_before)}}));
}

std::vector<std::string> MysqlSchema::migration(int version) {
  if (version == 1) {
    return {statements::create_meta.str(),        statements::create_keeper_log.str(), statements::create_count.str(),
            statements::create_count_delta.str(), statements::create_members.str(),    statements::create_pauses.str(),
            statements::create_inbox.str()};
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

void MysqlSchema::define(const std::string& what, const std::string& statement) {
  try {
    connection_.run(statement);
  } catch (const server::ServerError& error) {
    throw server::ServerError{error.trouble(), what + ": " + error.what()};
  }
}

std::optional<std::string> MysqlSchema::meta(const std::string& name) {
  Rows rows = connection_.select(statements::meta.with({{"name", bytes(name)}}));
  if (!rows.next()) return std::nullopt;
  return std::string{rows.text(0)};
}

std::string MysqlSchema::agree(const std::string& name, const std::string& value) {
  connection_.run(statements::agree_on_meta.with({{"name", bytes(name)}, {"value", bytes(value)}}));
  return meta(name).value_or(value);
}

std::string MysqlSchema::hold_layout() {
  return connection_.ask(statements::hold_layout.str());
}

bool MysqlSchema::change_meta(const std::string& name, const std::string& from, const std::string& to) {
  try {
    connection_.begin(sql::LockWait::patient, statements::lock_layout.str());
    const auto changed = connection_.run(
        statements::change_meta.with({{"name", bytes(name)}, {"from", bytes(from)}, {"to", bytes(to)}}));
    connection_.run("COMMIT");
    return changed == 1;
  } catch (const server::ServerError&) {
    if (!connection_.broken()) connection_.roll_back();
    throw;
  }
}

sql::Moved MysqlSchema::move(const sql::Move& move) {
  std::vector<TaskId> ids;
  Rows rows = connection_.select(statements::lock_lowest.with({{"table", move.from},
                                                               {"after", literal(move.after)},
                                                               {"conditions", shard_condition(move.shards)},
                                                               {"limit", std::to_string(move.limit)}}));
  while (rows.next()) ids.push_back(TaskId{rows.integer(0)});
  by_pieces(std::span<const TaskId>{ids}, [&](std::span<const TaskId> piece) {
    const std::string list = id_list(piece);
    connection_.run(statements::copy_tasks.with({{"from", move.from}, {"to", move.to}, {"ids", list}}));
    connection_.run(statements::remove_rows.with({{"table", move.from}, {"ids", list}}));
  });
  return {ids.size(), ids.empty() ? TaskId{} : ids.back()};
}

ShardPage MysqlSchema::shard_page(const ShardPageQuery& query, TimePoint now) {
  Rows rows = connection_.select(statements::shard_page.with({{"table", query.table},
                                                              {"shard", shard_by_id(query.total_shards)},
                                                              {"now", literal(now)},
                                                              {"after", literal(query.after)},
                                                              {"limit", std::to_string(query.limit)}}));
  rows.next();
  return {.rows = rows.integer(0),
          .misnumbered = rows.integer(1),
          .leased = rows.integer(2),
          .last = TaskId{rows.integer(3)},
          .holder = std::string{rows.text(4)}};
}

void MysqlSchema::renumber(const ShardPageQuery& query, TaskId last) {
  connection_.run(statements::renumber.with({{"table", query.table},
                                             {"shard", shard_by_id(query.total_shards)},
                                             {"after", literal(query.after)},
                                             {"last", literal(last)}}));
}

Durability MysqlSchema::durability() {
  Rows rows = connection_.select(
      "SELECT @@innodb_flush_log_at_trx_commit, @@log_bin, @@sync_binlog, @@innodb_doublewrite, @@innodb_flush_method");
  rows.next();
  const std::string flush{rows.text(0)};
  const bool unsure = flush == "0";
  std::string words = unsure ? "nothing for sure" : "a crash of the server process";
  if (rows.text(4) == "nosync") {
    return {words + "; innodb_flush_method=nosync, so a power cut may lose everything", unsure};
  }
  const std::string lost = lost_in_power_cut(flush, rows.text(1) == "1", std::string{rows.text(2)});
  words = lost.empty() ? "a power cut on the server's machine" : words + "; " + lost;
  const bool torn = rows.text(3) == "0" || rows.text(3) == "OFF";
  if (torn) words += "; innodb_doublewrite is off, so a power cut may damage pages";
  return {words, unsure};
}

}  // namespace easyretry::storage::mysql
