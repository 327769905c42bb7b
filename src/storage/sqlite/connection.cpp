#include "storage/sqlite/connection.h"

#include <utility>

namespace easyretry::storage::sqlite {
namespace {

// A program that holds the file's write lock (a shell with an open transaction, a backup) gets this long to let go.
constexpr int kBusyTimeoutMs = 2000;

[[noreturn]] void raise(sqlite3* db, int code) {
  const int extended = db == nullptr ? code : sqlite3_extended_errcode(db);
  throw SqliteError{extended == SQLITE_OK ? code : extended, db == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(db)};
}

// SQLite counts its allocations under one lock for the whole process, and Debian's makes dozens a statement (it is
// built without lookaside): measured, a tenth to a fifth of all the time that claims and settlements take. Refused,
// without harm, where the application has used SQLite before.
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

}  // namespace

Statement::Statement(sqlite3* db, std::string_view sql) {
  sqlite3_stmt* prepared = nullptr;
  const int code =
      sqlite3_prepare_v3(db, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  if (code != SQLITE_OK) raise(db, code);
  handle_.reset(prepared);
}

Statement& Statement::bind(int index, std::string_view text) {
  const char* bytes = text.data() == nullptr ? "" : text.data();  // a null pointer would be bound as NULL
  return checked(sqlite3_bind_text64(get(), index, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

int Statement::run() {
  const Rows rows{*this};
  while (step()) {
  }
  return sqlite3_changes(sqlite3_db_handle(get()));
}

bool Statement::step() {
  const int code = sqlite3_step(get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail();
  return false;
}

void Statement::fail() const {
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
  Statement statement = prepare(sql);
  Rows rows{statement};
  return rows.next() ? statement.integer(0) : 0;
}

std::string Connection::text(std::string_view sql) {
  Statement statement = prepare(sql);
  Rows rows{statement};
  return rows.next() ? std::string{statement.text(0)} : std::string{};
}

}  // namespace easyretry::storage::sqlite
