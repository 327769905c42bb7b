#include "storage/sqlite/migrations.h"

#include <string>

#include "storage/reshard.h"
#include "storage/sqlite/history_tables.h"
#include "storage/sqlite/statements.h"
#include "storage/sqlite/store_file.h"

namespace easyretry::storage::sqlite {
namespace {

[[noreturn]] void refuse_schema(const std::string& why) {
  throw StoreError{{Errc::invalid_argument, "sqlite.open", why}};
}

std::string name_of(Connection& db) {
  return sqlite3_db_filename(db.get(), "main");
}

// 0: the database has none of our tables yet.
std::int64_t schema_version(Connection& db, bool shared) {
  const bool ours = db.integer("PRAGMA application_id") == kApplicationId;
  const bool there = db.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'retry_meta'") > 0;
  if (ours || (shared && there)) {
    return db.integer(statements::schema_version.text);
  }
  if (shared || db.integer("SELECT count(*) FROM sqlite_schema") == 0) return 0;
  refuse_schema(not_ours(name_of(db)));
}

void apply(Connection& db, const Migration& step, bool shared) {
  WriteTransaction transaction{db};
  db.run(step.sql);
  for (const storage::Statement* change : step.each_month) {
    for (const std::string& table : history_tables(db)) db.run(for_month(*change, table));
  }
  if (!shared) db.run("PRAGMA application_id = " + std::to_string(kApplicationId));
  const std::string version = std::to_string(step.version);
  db.prepare(statements::store_schema_version).bind(1, version).run();
  transaction.commit();
}

}  // namespace

std::span<const Migration> migrations() {
  using namespace statements;
  static const std::vector<Migration> steps{{1, migration_001},
                                            {2, migration_002},
                                            {3, migration_003},
                                            {4, migration_004, {&month_indexes}},
                                            {5, migration_005, {&drop_month_view, &month_view}},
                                            {6, migration_006},
                                            {7, migration_007},
                                            {8, migration_008, {&month_attempt_log}},
                                            {9, migration_009},
                                            {10, migration_010, {&month_task_class}}};
  return steps;
}

std::int64_t check_schema(Connection& db, bool shared) {
  const std::int64_t found = schema_version(db, shared);
  const int newest = migrations().back().version;
  if (found <= newest) return found;
  refuse_schema(name_of(db) + " has schema version " + std::to_string(found) +
                ", made by a newer release; this one knows " + std::to_string(newest) +
                ". Use the newer release, or another file");
}

void migrate(Connection& db, bool shared) {
  const std::int64_t found = schema_version(db, shared);
  for (const Migration& step : migrations()) {
    if (step.version > found) apply(db, step, shared);
  }
}

std::vector<std::string> pending_migrations(Connection& db, int version) {
  std::vector<std::string> pending;
  for (const Migration& step : migrations()) {
    if (step.version <= version) continue;
    pending.push_back(step.sql.str());
    for (const storage::Statement* change : step.each_month) {
      for (const std::string& table : history_tables(db)) pending.push_back(for_month(*change, table));
    }
  }
  return pending;
}

void agree_on_shards(Connection& db, int total_shards) {
  const std::string wanted = std::to_string(total_shards);
  db.prepare(statements::store_total_shards).bind(1, wanted).run();
  const std::string stored = db.text(statements::total_shards.text);
  if (const auto why = shard_refusal(parse_shard_count(stored), total_shards)) refuse_schema(name_of(db) + ": " + *why);
}

}  // namespace easyretry::storage::sqlite
