#include "storage/sqlite/connection.h"

#include <utility>

#include "storage/sqlite/id_list.h"
#include "task/attempt_log.h"

namespace easyretry::storage::sqlite {
namespace {

// How long another program that holds the file's write lock (a shell with an open transaction, a backup) is waited for.
constexpr int kBusyTimeoutMs = 2000;

constexpr int kWriterCacheKib = 32 * 1024;

[[noreturn]] void raise(sqlite3* db, int code) {
  const int extended = db == nullptr ? code : sqlite3_extended_errcode(db);
  throw SqliteError{extended == SQLITE_OK ? code : extended, db == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(db)};
}

// SQLite counts its allocations under one lock for the whole process, and Debian's makes dozens a statement (it is
// built without lookaside). Measured: a tenth to a fifth of all the time that claims and settlements take. SQLite
// refuses this, without harm, if the application has used it before.
void stop_counting_allocations() {
  static const int once = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  (void)once;
}

int open_flags(Connection::Mode mode) {
  switch (mode) {
    case Connection::Mode::create: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Connection::Mode::write: return SQLITE_OPEN_READWRITE;
    case Connection::Mode::read: return SQLITE_OPEN_READONLY;
  }
  return SQLITE_OPEN_READONLY;
}

// Checkpoints are the writer's alone, and it runs them itself: frames in the log may not be on the disk (wal.h), and
// must not be copied over the database then.
void never_checkpoint(Connection& db) {
  sqlite3_wal_autocheckpoint(db.get(), 0);
  sqlite3_db_config(db.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

std::string_view text_of(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return {text == nullptr ? "" : text, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

// with_attempt(log, line) for statements: the same as in C++.
void with_attempt(sqlite3_context* context, int /*count*/, sqlite3_value** arguments) {
  const std::string log = task::with_attempt(text_of(arguments[0]), text_of(arguments[1]));
  sqlite3_result_text64(context, log.data(), log.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void add_with_attempt(Connection& db) {
  const int code = sqlite3_create_function_v2(db.get(), "with_attempt", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                                              &with_attempt, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) raise(db.get(), code);
}

Errc code_of(int code, Phase phase) {
  switch (code) {
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH: return Errc::invalid_argument;
    case SQLITE_IOERR: return phase == Phase::commit ? Errc::in_doubt : Errc::unavailable;
    default: return Errc::unavailable;
  }
}

std::string_view remedy(int code) {
  switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "; another program holds the database's write lock: end its transaction";
    case SQLITE_FULL: return "; free some space, then it works again";
    case SQLITE_IOERR: return "; the disk failed to read or write: check it and the system log";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "; the file is damaged: stop, keep a copy, and restore a backup or use sqlite3's .recover";
    case SQLITE_READONLY:
    case SQLITE_PERM: return "; the file has become read-only: check its permissions and the mount";
    case SQLITE_TOOBIG: return "; a text of the task is larger than SQLite can hold (1 GB)";
    default: return "";
  }
}

}  // namespace

Error to_error(const SqliteError& error, std::string_view where, Phase phase) {
  std::string detail = error.what();
  detail.append(" (SQLite code ")
      .append(std::to_string(error.extended_code()))
      .append(")")
      .append(remedy(error.code()));
  return {code_of(error.code(), phase), std::string{where}, std::move(detail)};
}

bool breaks_connection(const SqliteError& error) {
  switch (error.code()) {
    case SQLITE_IOERR:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CANTOPEN:
    case SQLITE_PROTOCOL: return true;
    default: return false;
  }
}

PreparedStatement::PreparedStatement(sqlite3* db, std::string_view sql) {
  sqlite3_stmt* prepared = nullptr;
  const int code =
      sqlite3_prepare_v3(db, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  if (code != SQLITE_OK) raise(db, code);
  handle_.reset(prepared);
}

PreparedStatement& PreparedStatement::bind(int index, std::string_view text) {
  const char* bytes = text.data() == nullptr ? "" : text.data();  // a null pointer would be bound as NULL
  return checked(sqlite3_bind_text64(get(), index, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

int PreparedStatement::run() {
  const Rows rows{*this};
  while (step()) {
  }
  return sqlite3_changes(sqlite3_db_handle(get()));
}

bool PreparedStatement::step() {
  const int code = sqlite3_step(get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail();
  return false;
}

void PreparedStatement::fail() const {
  sqlite3* db = sqlite3_db_handle(get());
  raise(db, sqlite3_errcode(db));
}

Connection::Connection(const std::filesystem::path& path, Mode mode) {
  stop_counting_allocations();
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &opened, open_flags(mode) | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(opened);
  if (code != SQLITE_OK) raise(opened, code);
  sqlite3_extended_result_codes(opened, 1);
  sqlite3_busy_timeout(opened, kBusyTimeoutMs);
}

void Connection::run(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) raise(handle_.get(), code);
}

std::int64_t Connection::integer(std::string_view sql) {
  PreparedStatement statement = prepare(sql);
  Rows rows{statement};
  return rows.next() ? statement.integer(0) : 0;
}

std::string Connection::text(std::string_view sql) {
  PreparedStatement statement = prepare(sql);
  Rows rows{statement};
  return rows.next() ? std::string{statement.text(0)} : std::string{};
}

Connection open_writer(const std::filesystem::path& path, Connection::Mode mode) {
  Connection db{path, mode};
  db.run("PRAGMA synchronous = NORMAL");  // a commit does not wait for the disk: see wal.h
  db.run("PRAGMA cache_size = -" + std::to_string(kWriterCacheKib));
  db.run("PRAGMA temp_store = MEMORY");
  db.run("PRAGMA secure_delete = FAST");           // Debian's default writes every freed page once more
  db.run("PRAGMA journal_size_limit = 67108864");  // a WAL that grew behind a long reader shrinks again
  never_checkpoint(db);
  add_id_list(db);
  add_with_attempt(db);
  return db;
}

Connection open_reader(const std::filesystem::path& path, int cache_kib) {
  Connection db{path, Connection::Mode::read};
  never_checkpoint(db);
  db.run("PRAGMA cache_size = -" + std::to_string(cache_kib));
  add_id_list(db);
  return db;
}

}  // namespace easyretry::storage::sqlite
