#pragma once
// sqlite3 and sqlite3_stmt as values. What fails is thrown as SqliteError; the store's verbs turn it into a Result.
//
// Connections are opened without SQLite's own mutex: each is used by one thread at a time. A Statement must not outlive
// its Connection.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <sqlite3.h>

namespace easyretry::storage::sqlite {

class SqliteError : public std::runtime_error {
 public:
  SqliteError(int extended_code, const std::string& what) : std::runtime_error(what), code_(extended_code) {}
  int code() const { return code_ & 0xff; }
  int extended_code() const { return code_; }

 private:
  int code_;
};

// A prepared statement. Parameters count from 1, columns from 0.
class Statement {
 public:
  Statement(sqlite3* db, std::string_view sql);

  // A text is not copied: it must live until the statement has run.
  Statement& bind(int index, std::int64_t value) { return checked(sqlite3_bind_int64(get(), index, value)); }
  Statement& bind(int index, std::string_view text);
  Statement& bind_null(int index) { return checked(sqlite3_bind_null(get(), index)); }
  Statement& bind_or_null(int index, std::string_view text) {
    return text.empty() ? bind_null(index) : bind(index, text);
  }
  Statement& bind_or_null(int index, std::optional<std::int64_t> value) {
    return value ? bind(index, *value) : bind_null(index);
  }

  // Runs to the end and gives the number of rows changed.
  int run();

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
  Statement& checked(int code) {
    if (code != SQLITE_OK) fail();
    return *this;
  }
  [[noreturn]] void fail() const;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// The rows of a bound statement; lets go of them, and of the snapshot they come from, at the end of the scope.
class Rows {
 public:
  explicit Rows(Statement& statement) : statement_(statement) {}
  ~Rows() { sqlite3_reset(statement_.get()); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  bool next() { return statement_.step(); }

 private:
  Statement& statement_;
};

class Connection {
 public:
  enum class Mode { create, write, read };
  Connection(const std::filesystem::path& path, Mode mode);
  // Somebody else's, who closes it.
  static Connection borrowed(sqlite3* db) { return Connection{db}; }

  void run(const char* sql) { run(std::string{sql}); }
  void run(const std::string& sql);  // one statement or several, rows ignored
  Statement prepare(std::string_view sql) { return Statement{handle_.get(), sql}; }
  std::int64_t integer(std::string_view sql);  // the first column of the first row; 0 without one
  std::string text(std::string_view sql);
  bool in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }
  sqlite3* get() const { return handle_.get(); }

 private:
  explicit Connection(sqlite3* theirs) : handle_(theirs, Close{true}) {}

  struct Close {
    Close() : theirs(false) {}
    explicit Close(bool borrowed) : theirs(borrowed) {}
    bool theirs;
    void operator()(sqlite3* db) const {
      if (!theirs) sqlite3_close_v2(db);
    }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace easyretry::storage::sqlite
