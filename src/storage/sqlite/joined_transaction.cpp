#include "storage/sqlite/joined_transaction.h"

#include <string>
#include <system_error>

#include "storage/sqlite/count_totals.h"
#include "storage/sqlite/errors.h"
#include "storage/sqlite/lookup.h"

namespace easyretry::storage::sqlite {
namespace {

[[noreturn]] void refuse(std::string why) {
  throw Refusal{{Errc::invalid_argument, "sqlite.insert", std::move(why)}};
}

sqlite3* checked(sqlite3* theirs, const std::filesystem::path& file) {
  if (theirs == nullptr) refuse("sqlite_tx was given no connection");
  const char* name = sqlite3_db_filename(theirs, "main");
  const std::string open = name == nullptr ? "" : name;
  std::error_code ignored;  // a file that cannot be looked at is not the same one
  if (open.empty() || !std::filesystem::equivalent(open, file, ignored)) {
    refuse("the connection has " + (open.empty() ? "no file" : open) + " open, the tasks are in " + file.string() +
           "; a transaction spans one file, so keep your tables there too, or use submit without a transaction");
  }
  if (sqlite3_get_autocommit(theirs) != 0) {
    refuse("the connection is not inside a transaction; run BEGIN IMMEDIATE on it first");
  }
  return theirs;
}

// One batch, undone alone if it fails.
class Savepoint {
 public:
  explicit Savepoint(Connection& db) : db_(db) { db_.run("SAVEPOINT easyretry_insert"); }
  ~Savepoint() {
    if (kept_) return;
    try {
      db_.run("ROLLBACK TO easyretry_insert; RELEASE easyretry_insert");
    } catch (const SqliteError&) {
      // The failure that brought us here has ended the whole transaction, and its owner is told of it.
    }
  }
  Savepoint(const Savepoint&) = delete;
  Savepoint& operator=(const Savepoint&) = delete;
  void keep() {
    db_.run("RELEASE easyretry_insert");
    kept_ = true;
  }

 private:
  Connection& db_;
  bool kept_ = false;
};

}  // namespace

JoinedTransaction::JoinedTransaction(sqlite3* theirs, const std::filesystem::path& file)
    : db_(Connection::borrowed(checked(theirs, file))) {
  sqlite3_wal_autocheckpoint(theirs, 0);
  sqlite3_db_config(theirs, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

InsertReply JoinedTransaction::insert(std::span<const NewTask> tasks, GrowingIds& ids, int total_shards,
                                      TimePoint now) {
  Savepoint savepoint{db_};
  Lookup lookup{db_};
  Calls calls{db_, lookup};
  Sums sums;
  Inserts inserts{db_, lookup, calls, sums, ids, total_shards};
  InsertReply reply = inserts.insert(tasks, now);
  CountTotals{db_}.add(sums);
  savepoint.keep();
  return reply;
}

}  // namespace easyretry::storage::sqlite
