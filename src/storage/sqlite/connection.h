#pragma once
// sqlite3 and sqlite3_stmt as values, and the meaning of their failures. A failure is thrown as SqliteError; the
// store's verbs turn it into a Result.
//
// Connections are opened without SQLite's own mutex: each is used by one thread at a time. A PreparedStatement must not
// outlive its Connection.

#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "base/result.h"
#include "storage/statement.h"

namespace easyretry::storage::sqlite {

class SqliteError : public std::runtime_error {
 public:
  SqliteError(int extended_code, const std::string& what) : std::runtime_error(what), code_(extended_code) {}
  int code() const { return code_ & 0xff; }
  int extended_code() const { return code_; }

 private:
  int code_;
};

enum class Phase {
  work,    // the transaction can be rolled back: nothing was done
  commit,  // after an I/O error it is unknown whether the last frame reached the disk
};
Error to_error(const SqliteError& error, std::string_view where, Phase phase = Phase::work);

// After such an error the connection's view of the file cannot be trusted: it has to be opened again.
bool breaks_connection(const SqliteError& error);

// Runs the body of a verb; an exception becomes the Result. A StoreError means that the database is fine, but that the
// request must not be done.
template <class Body>
auto guarded(std::string_view where, Body body) -> Result<decltype(body())> {
  try {
    return body();
  } catch (const SqliteError& error) {
    return tl::make_unexpected(to_error(error, where));
  } catch (const StoreError& refusal) {
    return tl::make_unexpected(refusal.error());
  } catch (const std::exception& error) {
    return fail(Errc::unavailable, where, error.what());
  }
}

// Parameters count from 1, columns from 0.
class PreparedStatement {
 public:
  PreparedStatement(sqlite3* db, std::string_view sql);

  // A text is not copied: it must live until the statement has run.
  PreparedStatement& bind(int index, std::int64_t value) { return checked(sqlite3_bind_int64(get(), index, value)); }
  PreparedStatement& bind(int index, std::string_view text);
  PreparedStatement& bind_null(int index) { return checked(sqlite3_bind_null(get(), index)); }
  PreparedStatement& bind_or_null(int index, std::string_view text) {
    return text.empty() ? bind_null(index) : bind(index, text);
  }
  PreparedStatement& bind_or_null(int index, std::optional<std::int64_t> value) {
    return value ? bind(index, *value) : bind_null(index);
  }

  // Runs to the end; returns the number of rows changed.
  int run();

  int columns() const { return sqlite3_column_count(get()); }
  std::int64_t integer(int column) const { return sqlite3_column_int64(get(), column); }
  bool is_null(int column) const { return sqlite3_column_type(get(), column) == SQLITE_NULL; }
  std::string_view text(int column) const {  // valid until the next row
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(get(), column));
    return {bytes, bytes == nullptr ? 0U : static_cast<std::size_t>(sqlite3_column_bytes(get(), column))};
  }

  sqlite3_stmt* get() const { return handle_.get(); }

 private:
  friend class Rows;
  bool step();
  PreparedStatement& checked(int code) {
    if (code != SQLITE_OK) fail();
    return *this;
  }
  [[noreturn]] void fail() const;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// The rows of a bound statement. Releases them, and the snapshot they come from, at the end of the scope.
class Rows {
 public:
  explicit Rows(PreparedStatement& statement) : statement_(statement) {}
  ~Rows() { sqlite3_reset(statement_.get()); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  bool next() { return statement_.step(); }

 private:
  PreparedStatement& statement_;
};

class Connection {
 public:
  enum class Mode { create, write, read };
  Connection(const std::filesystem::path& path, Mode mode);
  // A connection of the application, which closes it.
  static Connection borrowed(sqlite3* db) { return Connection{db}; }

  void run(const char* sql) { run(std::string{sql}); }
  void run(const std::string& sql);  // one statement or several; rows are ignored
  void run(const storage::Statement& statement) { run(statement.str()); }
  PreparedStatement prepare(std::string_view sql) { return PreparedStatement{handle_.get(), sql}; }
  PreparedStatement prepare(const storage::Statement& statement) { return prepare(statement.text); }
  std::int64_t integer(std::string_view sql);  // the first column of the first row; 0 without one
  std::string text(std::string_view sql);
  bool in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }
  sqlite3* get() const { return handle_.get(); }

 private:
  explicit Connection(sqlite3* theirs) : handle_(theirs, Close{true}) {}

  struct Close {
    Close() : borrowed(false) {}
    explicit Close(bool is_borrowed) : borrowed(is_borrowed) {}
    bool borrowed;
    void operator()(sqlite3* db) const {
      if (!borrowed) sqlite3_close_v2(db);
    }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

// Connections with the settings of this store and with its functions for statements: id_list and, to write,
// with_attempt. Neither checkpoints.
Connection open_writer(const std::filesystem::path& path, Connection::Mode mode);
Connection open_reader(const std::filesystem::path& path, int cache_kib);

// Several reads of one moment: a task that moves to history meanwhile is seen once, not missed.
class Snapshot {
 public:
  explicit Snapshot(Connection& db) : db_(db) { db_.run("BEGIN"); }
  ~Snapshot() { sqlite3_exec(db_.get(), "COMMIT", nullptr, nullptr, nullptr); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  Connection& db_;
};

// Rolled back at the end of the scope unless it was committed. A rollback that fails is ignored: the failure that led
// to it is the one to report, and closing the connection rolls back too.
class WriteTransaction {
 public:
  explicit WriteTransaction(Connection& db) : db_(db) { db_.run("BEGIN IMMEDIATE"); }
  ~WriteTransaction() {
    if (db_.in_transaction()) sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  WriteTransaction(const WriteTransaction&) = delete;
  WriteTransaction& operator=(const WriteTransaction&) = delete;
  void commit() { db_.run("COMMIT"); }

 private:
  Connection& db_;
};

}  // namespace easyretry::storage::sqlite
