#include "storage/sqlite/migrations.h"

#include <string>

#include <easyretry/error.h>

#include "storage/shard_count.h"
#include "storage/sqlite/columns.h"
#include "storage/sqlite/history_index.h"
#include "storage/sqlite/history_tables.h"
#include "storage/sqlite/months.h"
#include "storage/sqlite/store_file.h"

namespace easyretry::storage::sqlite {
namespace {

// Times are milliseconds since 1970, UTC. What a scan or a compare-and-set looks at comes first, long texts last.
constexpr std::string_view kStateColumns =
    "id INTEGER PRIMARY KEY,"
    "version INTEGER NOT NULL,"
    "status TEXT NOT NULL,"
    "lease_until INTEGER NOT NULL DEFAULT 0,"
    "method_name TEXT NOT NULL,"
    "next_retry_time INTEGER NOT NULL,"
    "shard INTEGER NOT NULL,"
    "namespace TEXT NOT NULL,"
    "stage TEXT NOT NULL DEFAULT 'RUN',"
    "attempt_count INTEGER NOT NULL DEFAULT 0,"
    "callback_count INTEGER NOT NULL DEFAULT 0,"
    "crash_count INTEGER NOT NULL DEFAULT 0,"
    "delivery_count INTEGER NOT NULL DEFAULT 0,"
    "locked_by TEXT,"
    "locked_at INTEGER,"
    "updated_at INTEGER NOT NULL,"
    "first_failed_at INTEGER,"
    "last_error_time INTEGER,"
    "outcome TEXT,"
    "last_error_msg TEXT,"
    "progress TEXT,"
    "result_json BLOB";

// Left out is what is the same for all that have ended (status, lease, owner), and the shard, which follows from the
// call.
constexpr std::string_view kEndColumns =
    "id INTEGER PRIMARY KEY,"
    "version INTEGER NOT NULL,"
    "method_name TEXT NOT NULL,"
    "next_retry_time INTEGER NOT NULL,"
    "namespace TEXT NOT NULL,"
    "stage TEXT NOT NULL,"
    "attempt_count INTEGER NOT NULL,"
    "callback_count INTEGER NOT NULL,"
    "crash_count INTEGER NOT NULL,"
    "delivery_count INTEGER NOT NULL,"
    "outcome TEXT NOT NULL,"
    "finished_at INTEGER NOT NULL,"
    "first_failed_at INTEGER,"
    "last_error_time INTEGER,"
    "last_error_msg TEXT,"
    "progress TEXT,"
    "result_json BLOB";

constexpr std::string_view kCallColumns =
    "id INTEGER PRIMARY KEY,"
    "task_key TEXT NOT NULL,"
    "generation INTEGER NOT NULL DEFAULT 0,"
    "created_at INTEGER NOT NULL,"
    "max_attempts INTEGER NOT NULL,"
    "deadline INTEGER,"
    "max_retry_duration INTEGER NOT NULL DEFAULT 0,"
    "backoff_strategy TEXT,"
    "business_type TEXT,"
    "business_id TEXT,"
    "payload_version INTEGER NOT NULL DEFAULT 1,"
    "tags TEXT,"
    "traceparent TEXT,"
    "params_json BLOB";

std::string create_view(const std::string& view, const std::string& columns, const std::string& from) {
  return "CREATE VIEW IF NOT EXISTS " + view + " AS SELECT " + columns + " FROM " + from + ";";
}

std::string create_history_view(const std::string& table) {
  return create_view(history_view(table), "*, 'FINISHED' AS status, finished_at AS updated_at",
                     table + kWithCallAndMark);
}

// A task is two rows. retry_state says where it stands, and moves to a month of history when it ends; retry_call says
// what was asked for, and stays where it was stored until that month is dropped. What a claim and a settlement write
// again and again is short that way, however long the arguments are. People read both as one: retry_task is a view.
//
// Keys and business ids are found by retry_lookup (see lookup.h), live and in history alike: an index over their texts
// would be changed at a random page when a task is stored, when it ends, and when it enters history.
//
// The due index has no shard: an engine of this store has them all, and tasks stored together then lie together in it.
// It ends in the id without naming it, as every index of SQLite does; named, it would be stored twice. No
// index holds status, version, lease_until or locked_by: a claim and a renewal change a row in place.
std::string first_schema() {
  std::string sql = "CREATE TABLE retry_state (";
  sql.append(kStateColumns).append(");");
  sql.append("CREATE TABLE retry_call (").append(kCallColumns).append(");");
  sql.append(create_view("retry_task", "*", std::string{"retry_state"} + kWithCall));
  sql.append("CREATE INDEX retry_state_due ON retry_state (namespace, next_retry_time);");
  sql.append(
      "CREATE TABLE retry_lookup (part INTEGER NOT NULL, hash INTEGER NOT NULL, id INTEGER NOT NULL, "
      "PRIMARY KEY (part, hash, id)) WITHOUT ROWID;");
  sql.append("CREATE TABLE retry_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;");
  return sql;
}

// Sums of tasks stored and ended; see count_totals.h. What is there from before begins as stored on former days. The
// day comes first: today's sums then lie together, and former days are found without a search.
std::string add_counts() {
  return "CREATE TABLE retry_count (day INTEGER NOT NULL, namespace TEXT NOT NULL, method_name TEXT NOT NULL, "
         "kind TEXT NOT NULL, tasks INTEGER NOT NULL, PRIMARY KEY (day, namespace, method_name, kind)) WITHOUT ROWID;"
         "INSERT INTO retry_count SELECT 0, namespace, method_name, 'STORED', count(*) FROM retry_state "
         "GROUP BY namespace, method_name;";
}

std::string add_pauses() {
  return "CREATE TABLE retry_pause (namespace TEXT NOT NULL, method_name TEXT NOT NULL, since INTEGER NOT NULL, "
         "why TEXT NOT NULL, PRIMARY KEY (namespace, method_name)) WITHOUT ROWID;";
}

// What was requeued, and as what; a row goes with its task's row of history. Not a column of the months: pages of a
// long history go by indexes alone (history_index.h), and a condition on a column would read the rows.
std::string add_marks() {
  return "CREATE TABLE retry_requeued (id INTEGER PRIMARY KEY, requeued_as INTEGER NOT NULL);";
}

std::string show_marks(const std::string& table) {
  return "DROP VIEW IF EXISTS " + history_view(table) + ";" + create_history_view(table);
}

constexpr std::string_view kVersionOfSchema =
    "SELECT CAST(value AS INTEGER) FROM retry_meta WHERE name = 'schema_version'";

[[noreturn]] void refuse(const std::string& why) {
  throw StoreError{{Errc::invalid_argument, "sqlite.open", why}};
}

std::string name_of(Connection& db) {
  return sqlite3_db_filename(db.get(), "main");
}

// 0: nothing of ours is there yet.
std::int64_t schema_version(Connection& db, bool shared) {
  const bool ours = db.integer("PRAGMA application_id") == kApplicationId;
  const bool there = db.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'retry_meta'") > 0;
  if (ours || (shared && there)) return db.integer(kVersionOfSchema);
  if (shared || db.integer("SELECT count(*) FROM sqlite_schema") == 0) return 0;
  refuse(not_ours(name_of(db)));
}

void apply(Connection& db, const Migration& step, bool shared) {
  db.run("BEGIN IMMEDIATE");
  try {
    db.run(step.sql);
    if (step.of_month != nullptr) {
      for (const std::string& table : history_tables(db)) db.run(step.of_month(table));
    }
    if (!shared) db.run("PRAGMA application_id = " + std::to_string(kApplicationId));
    db.run("INSERT OR REPLACE INTO retry_meta VALUES ('schema_version', '" + std::to_string(step.version) + "')");
    db.run("COMMIT");
  } catch (...) {
    if (db.in_transaction()) db.run("ROLLBACK");
    throw;
  }
}

}  // namespace

const std::vector<Migration>& migrations() {
  static const std::vector<Migration> steps{{1, first_schema()},
                                            {2, add_counts()},
                                            {3, add_pauses()},
                                            {4, create_call_index(), create_history_indexes},
                                            {5, add_marks(), show_marks}};
  return steps;
}

std::string create_history(const std::string& table) {
  std::string sql = "CREATE TABLE IF NOT EXISTS " + table + " (";
  sql.append(kEndColumns).append(");").append(create_history_indexes(table));
  return sql.append(create_history_view(table));
}

std::int64_t check_schema(Connection& db, bool shared) {
  const std::int64_t found = schema_version(db, shared);
  const int newest = migrations().back().version;
  if (found <= newest) return found;
  refuse(name_of(db) + " has schema version " + std::to_string(found) + ", made by a newer release; this one knows " +
         std::to_string(newest) + ". Use the newer release, or another file");
}

void migrate(Connection& db, bool shared) {
  const std::int64_t found = schema_version(db, shared);
  for (const Migration& step : migrations()) {
    if (step.version > found) apply(db, step, shared);
  }
}

std::vector<std::string> pending_migrations(Connection& db, int version) {
  std::vector<std::string> statements;
  for (const Migration& step : migrations()) {
    if (step.version <= version) continue;
    statements.push_back(step.sql);
    if (step.of_month == nullptr) continue;
    for (const std::string& table : history_tables(db)) statements.push_back(step.of_month(table));
  }
  return statements;
}

void agree_on_shards(Connection& db, int total_shards) {
  const std::string wanted = std::to_string(total_shards);
  db.run("INSERT OR IGNORE INTO retry_meta VALUES ('total_shards', '" + wanted + "')");
  const std::string stored = db.text("SELECT value FROM retry_meta WHERE name = 'total_shards'");
  if (const auto why = shard_refusal(parse_shard_count(stored), total_shards)) refuse(name_of(db) + ": " + *why);
}

}  // namespace easyretry::storage::sqlite
