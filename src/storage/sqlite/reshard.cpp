// Another number of shards for a file, while no engine has it open.

#include "storage/reshard.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "storage/record_columns.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/migrations.h"
#include "storage/sqlite/sqlite_store.h"
#include "storage/sqlite/statements.h"
#include "storage/sqlite/store_file.h"
#include "storage/sqlite/wal.h"

namespace easyretry::storage {
namespace {

using namespace sqlite;

constexpr const char* kWhere = "sqlite.reshard";

SqliteOptions placed(const SqliteOptions& options) {
  SqliteOptions at = options;
  at.path = checked_place(options.path);
  check_ownership(at.path, at.shared);
  return at;
}

std::optional<StoredSettings> settings_in(Connection& db, bool shared) {
  if (check_schema(db, shared) == 0) return std::nullopt;
  const std::string shards = db.text(statements::total_shards.text);
  if (shards.empty()) return std::nullopt;
  return StoredSettings{.total_shards = shards};
}

class SqliteRows final : public ShardedRows {
 public:
  SqliteRows(const SqliteOptions& options, Connection db) : options_(options), db_(std::move(db)) {
    db_.run("PRAGMA synchronous = FULL");
    rewrite_log(db_, std::nullopt);
    sqlite3_wal_autocheckpoint(db_.get(), 1000);
    sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  }

  StoredSettings settings() override {
    const auto settings = settings_in(db_, options_.shared);
    if (!settings) throw nothing_there(kWhere, "sqlite:" + options_.path.string());
    return *settings;
  }

  std::vector<std::string> tables() override { return {"retry_state"}; }

  // No engine runs: we hold the lock file. A leased task was left by an engine that died.
  ShardPage look(const ShardPageQuery& query) override {
    PreparedStatement page = db_.prepare(statements::shard_page.with({{"shard", shard_by_id(query.total_shards)}}));
    page.bind(1, number(query.after)).bind(2, static_cast<std::int64_t>(query.limit));
    Rows rows{page};
    rows.next();
    return {.rows = page.integer(0), .misnumbered = page.integer(1), .last = TaskId{page.integer(2)}};
  }

  // The count needs no check: the lock file keeps others out.
  std::optional<ShardPage> renumber(const ShardPageQuery& query, const ShardCount& /*expected*/) override {
    WriteTransaction transaction{db_};
    ShardPage page = look(query);
    if (page.misnumbered > 0) {
      db_.prepare(statements::renumber.with({{"shard", shard_by_id(query.total_shards)}}))
          .bind(1, number(query.after))
          .bind(2, number(page.last))
          .run();
    }
    transaction.commit();
    return page;
  }

  bool change(const ShardCount& from, const ShardCount& to) override {
    const std::string before = to_text(from);
    const std::string after = to_text(to);
    return db_.prepare(statements::change_shards).bind(1, before).bind(2, after).run() == 1;
  }

 private:
  const SqliteOptions options_;
  Connection db_;
};

// A failure names the file.
template <class Body>
auto with_path(const std::filesystem::path& path, Body body) {
  try {
    return body();
  } catch (const SqliteError& error) {
    Error refusal = to_error(error, kWhere);
    refusal.detail = path.string() + ": " + refusal.detail;
    throw StoreError{std::move(refusal)};
  }
}

}  // namespace

ReshardPlan reshard_sqlite(const SqliteOptions& options, const ReshardRequest& request) {
  const SqliteOptions at = placed(options);
  if (!std::filesystem::exists(at.path)) throw nothing_there(kWhere, "sqlite:" + at.path.string());
  return with_path(at.path, [&] {
    const StoreLock lock{at.path};
    forget_unsynced(at.path);
    SqliteRows rows{at, open_writer(at.path, Connection::Mode::write)};
    return reshard(rows, kWhere, request);
  });
}

std::optional<StoredSettings> sqlite_settings(const SqliteOptions& options) {
  const SqliteOptions at = placed(options);
  if (!std::filesystem::exists(at.path)) return std::nullopt;
  return with_path(at.path, [&] {
    Connection db{at.path, Connection::Mode::read};
    return settings_in(db, at.shared);
  });
}

MigrationPlan migrate_sqlite(const SqliteOptions& options, const Clock& clock, const MigrateRequest& request) {
  const SqliteOptions at = placed(options);
  MigrationPlan plan;
  if (std::filesystem::exists(at.path)) {
    with_path(at.path, [&] {
      Connection db{at.path, Connection::Mode::read};
      plan.from = static_cast<int>(check_schema(db, at.shared));
      plan.statements = pending_migrations(db, plan.from);
      return true;
    });
  }
  const int newest = migrations().back().version;
  plan.to = target_version(request, plan.from, newest);
  if (plan.to != newest) {
    throw std::invalid_argument("opening a SQLite store brings it to schema version " + std::to_string(newest) +
                                ": leave out --to");
  }
  if (!request.only_plan) open_sqlite(options, clock);
  return plan;
}

}  // namespace easyretry::storage
