#include "storage/sqlite/session.h"

#include <string>
#include <utility>

#include "storage/sqlite/id_list.h"
#include "storage/sqlite/log_rewrite.h"

namespace easyretry::storage::sqlite {
namespace {

constexpr int kCacheKib = 32 * 1024;

int remember_wal_pages(void* wal_pages, sqlite3*, const char*, int pages) {
  *static_cast<int*>(wal_pages) = pages;
  return SQLITE_OK;
}

// The first sync of a new file also makes its name durable, which is not for several threads to do at once.
sqlite3_file* open_log(sqlite3* db) {
  sqlite3_file* log = nullptr;
  int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&log));
  if (code == SQLITE_OK && (log == nullptr || log->pMethods == nullptr)) code = SQLITE_CANTOPEN;
  if (code == SQLITE_OK) code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
  if (code != SQLITE_OK) throw SqliteError{code, "the write-ahead log cannot be synced"};
  return log;
}

}  // namespace

Session::Session(Connection opened, const SqliteOptions& options, GrowingIds& ids)
    : db(std::move(opened)),
      begin(db.prepare("BEGIN IMMEDIATE")),  // a deferred one fails at once where it should wait its turn
      commit(db.prepare("COMMIT")),
      history(db),
      lookup(db),
      calls(db, lookup),
      count_totals(db),
      inserts(db, lookup, calls, sums, ids, options.total_shards),
      claims(db),
      settlements(db, calls, history, options.history, sums),
      operations(db, lookup, calls, history, options.history, sums, ids, options.total_shards) {
  // Replaces SQLite's own checkpoint at commit: ours runs when the callers of the group have been answered.
  sqlite3_wal_hook(db.get(), remember_wal_pages, &wal_pages);
  log = open_log(db.get());
  sync_folder(db);
  checkpoint_on_close(true);
}

void Session::write_sums() {
  count_totals.add(sums);
  sums.clear();
}

void Session::roll_back() {
  sums.clear();
  history.forget();
  if (db.in_transaction()) db.run("ROLLBACK");
}

// Passive: waits for no reader. What it could not copy back is copied after a later commit.
int Session::checkpoint() {
  return sqlite3_wal_checkpoint_v2(db.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
}

void Session::checkpoint_on_close(bool wanted) {
  sqlite3_db_config(db.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, wanted ? 0 : 1, nullptr);
}

Connection open_writer(const SqliteOptions& options, Connection::Mode mode) {
  Connection db{options.path, mode};
  db.run("PRAGMA synchronous = NORMAL");  // a commit does not wait for the disk: see disk_sync.h
  db.run("PRAGMA cache_size = -" + std::to_string(kCacheKib));
  db.run("PRAGMA temp_store = MEMORY");
  db.run("PRAGMA secure_delete = FAST");           // Debian's default writes every freed page once more
  db.run("PRAGMA journal_size_limit = 67108864");  // a WAL that a long reader let grow shrinks again
  // What is in the log may not be on the disk (log_rewrite.h), and must not be copied over what is.
  sqlite3_wal_autocheckpoint(db.get(), 0);
  sqlite3_db_config(db.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  add_id_list(db);
  return db;
}

}  // namespace easyretry::storage::sqlite
