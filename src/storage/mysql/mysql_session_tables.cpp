// The part of a session that is about tables and what they say of the store, not about tasks.

#include <algorithm>

#include "storage/history.h"
#include "storage/mysql/counting.h"
#include "storage/mysql/inbox_sql.h"
#include "storage/mysql/literals.h"
#include "storage/mysql/membership.h"
#include "storage/mysql/mysql_session.h"
#include "storage/mysql/pauses.h"
#include "storage/mysql/schema.h"
#include "storage/mysql/statements.h"
#include "storage/server/server_error.h"

namespace easyretry::storage::mysql {

std::vector<std::string> MysqlSession::tables() {
  Rows rows = connection_.select(
      "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' "
      "AND table_name LIKE 'retry\\_%'");
  std::vector<std::string> names;
  while (rows.next()) names.emplace_back(rows.text(0));
  std::ranges::sort(names);
  return names;
}

// Said when a store is opened, a table that lacks something does not fail a task later.
void MysqlSession::create(const std::string& table, const std::string& create, const std::string& check) {
  try {
    connection_.run(create);
    connection_.select(check);
  } catch (const server::ServerError& error) {
    throw server::ServerError{error.trouble(), table + ": " + error.what()};
  }
}

void MysqlSession::create_tasks(const std::string& table, sql::KeysIn keys) {
  create(table, mysql::create_tasks(table, keys), check_tasks(table));
}

void MysqlSession::create_keys() {
  create(kKeyTable, mysql::create_keys(), check_keys());
}

void MysqlSession::create_history(const std::string& table) {
  complete_history(table);
  create(table, mysql::create_history(table), check_history(table));
}

void MysqlSession::complete_history(const std::string& table) {
  const auto lacks = [&] { return connection_.select(lacks_marks(table)).next(); };
  if (!lacks()) return;
  try {
    connection_.run(add_marks(table));
  } catch (const server::ServerError& error) {
    const bool by_another = !connection_.broken() && !lacks();  // which was opened at the same time
    if (!by_another) throw server::ServerError{error.trouble(), table + ": " + error.what()};
  }
}

std::vector<std::string> MysqlSession::migration(int version) {
  if (version == 1) {
    return {mysql::create_meta(), create_keeper_log(), create_count(), create_count_delta(),
            create_members(),     create_pauses(),     create_inbox()};
  }
  std::vector<std::string> steps;
  for (const std::string& table : tables()) {
    if (month_of_history_table(table) && connection_.select(lacks_marks(table)).next())
      steps.push_back(add_marks(table));
  }
  return steps;
}

void MysqlSession::define(const std::string& what, const std::string& statement) {
  try {
    connection_.run(statement);
  } catch (const server::ServerError& error) {
    throw server::ServerError{error.trouble(), what + ": " + error.what()};
  }
}

void MysqlSession::drop(const std::string& table) {
  connection_.run("DROP TABLE IF EXISTS " + table);
}

std::vector<sql::TableFacts> MysqlSession::table_facts() {
  Rows rows = connection_.select(
      "SELECT table_name, COALESCE(table_rows, 0), COALESCE(data_length + index_length, 0) FROM "
      "information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' "
      "AND table_name LIKE 'retry\\_%' ORDER BY table_name");
  std::vector<sql::TableFacts> facts;
  while (rows.next()) facts.push_back({std::string{rows.text(0)}, rows.integer(1), rows.integer(2)});
  return facts;
}

void MysqlSession::note(const KeepStep& step, TimePoint now, TimePoint forget_before) {
  connection_.run("INSERT INTO retry_keeper_log (at, action, table_name, row_count) VALUES (" + literal(now) + ", " +
                  bytes(sql::action_of(step)) + ", " + bytes(step.table) + ", " + literal(step.rows) + ")");
  connection_.run("DELETE FROM retry_keeper_log WHERE at < " + literal(forget_before));
}

bool MysqlSession::drop_empty(const std::string& table) {
  connection_.run("LOCK TABLES " + table + " WRITE");
  try {
    const bool empty = !connection_.select("SELECT 1 FROM " + table + " LIMIT 1").next();
    if (empty) connection_.run("DROP TABLE " + table);
    connection_.run("UNLOCK TABLES");
    return empty;
  } catch (...) {
    broken_ = true;  // the locks go with the connection
    throw;
  }
}

std::optional<std::string> MysqlSession::meta(const std::string& name) {
  Rows rows = connection_.select("SELECT value FROM retry_meta WHERE name = " + bytes(name));
  if (!rows.next()) return std::nullopt;
  return std::string{rows.text(0)};
}

std::string MysqlSession::agree(const std::string& name, const std::string& value) {
  connection_.run("INSERT INTO retry_meta (name, value) VALUES (" + bytes(name) + ", " + bytes(value) +
                  ") ON DUPLICATE KEY UPDATE name = name");
  return meta(name).value_or(value);
}

// A read that locks looks at now, in anybody's transaction.
std::string MysqlSession::hold_layout() {
  return connection_.ask("SELECT value FROM retry_meta WHERE name = 'layout' LOCK IN SHARE MODE");
}

bool MysqlSession::change_meta(const std::string& name, const std::string& from, const std::string& to) {
  try {
    connection_.ask(set_lock_timeout(lock_timeout_) +
                    "START TRANSACTION READ WRITE;SELECT value FROM retry_meta WHERE name = 'layout' FOR UPDATE");
    const auto changed = connection_.run("UPDATE retry_meta SET value = " + bytes(to) + " WHERE name = " + bytes(name) +
                                         " AND value = " + bytes(from));
    connection_.run("COMMIT");
    return changed == 1;
  } catch (const server::ServerError&) {
    if (!broken()) roll_back();
    throw;
  }
}

}  // namespace easyretry::storage::mysql
