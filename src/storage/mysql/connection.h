#pragma once
// One connection to a server, and the rows that it gives. For one thread at a time. Everything throws
// server::ServerError.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <mysql.h>

#include "storage/mysql/address.h"
#include "storage/server/server_error.h"

namespace easyretry::storage::mysql {

// The rows of a SELECT, one after the other. A NULL is 0 and "".
class Rows {
 public:
  explicit Rows(MYSQL_RES* result) : result_(result, mysql_free_result) {}

  bool next();
  bool is_null(int column) const { return row_[column] == nullptr; }
  std::string_view text(int column) const;  // until the next call of next()
  std::int64_t integer(int column) const;
  int columns() const { return static_cast<int>(mysql_num_fields(result_.get())); }

 private:
  std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> result_;
  MYSQL_ROW row_ = nullptr;
  const unsigned long* lengths_ = nullptr;
};

// Throws ServerError if the server's version text, such as "8.0.11-TiDB-v7.5.1", belongs to another product that speaks
// MySQL's protocol and lacks a needed feature.
void check_product(std::string_view version);
// Throws ServerError if the server is too old.
void check_version(bool is_mariadb, unsigned long version);
// Whether a server with this value of @@read_only can be written to: 0 or 1, and since MariaDB 12.0.1 a word, one of
// OFF, ON, NO_LOCK and NO_LOCK_NO_ADMIN.
bool is_writable(std::string_view read_only);

class Connection {
 public:
  // Connects, refuses servers that cannot do the work, and sets the variables that the statements rely on.
  explicit Connection(const MysqlAddress& address);
  // Joins a connection of the application, which closes it and decides how long it waits. Changes no setting. Throws
  // server::Refusal if our statements would mean something else with its settings.
  explicit Connection(MYSQL* handle);

  bool joined() const { return handle_.get_deleter().joined; }
  bool is_mariadb() const;
  // The session cannot be used any more.
  bool broken() const { return broken_ || demotions_.count() != demotions_before_; }
  void give_up() { broken_ = true; }
  // The longest statement that the server accepts.
  std::size_t most_bytes() const { return most_bytes_; }

  // One statement or, on a connection of ours, several in one round trip, separated by semicolons. If one fails, the
  // ones after it are not run. Returns the number of rows that the last one changed.
  std::uint64_t run(const std::string& statements);
  // Two statements on any connection, in as few round trips as it allows.
  std::uint64_t run_both(const std::string& first, const std::string& second);
  // The rows that the last of the statements gives.
  Rows select(const std::string& statements);
  // The first column of the first row.
  std::string ask(const std::string& statement);
  // The value that the last statement gave to LAST_INSERT_ID(…), or 0.
  std::int64_t insert_id() const { return static_cast<std::int64_t>(mysql_insert_id(handle_.get())); }
  // How many of the statements sent last were done.
  int replies() const { return replies_; }

  // --- Transactions, and rows that other transactions hold ---

  // Begins a transaction and asks for the first value of `query`, in one round trip. READ WRITE: a server that has
  // become a read-only replica says so here, before any work is done.
  std::string begin(sql::LockWait wait, const std::string& query);
  void roll_back() noexcept;
  // According to the last answer. Without autocommit, every statement is inside a transaction.
  bool in_transaction() const {
    return (handle_->server_status & SERVER_STATUS_IN_TRANS) != 0 ||
           (handle_->server_status & SERVER_STATUS_AUTOCOMMIT) == 0;
  }

  // Comes before an INSERT that must not wait: it may wait for keys, and there is no NOWAIT for those. Not set for the
  // whole session: with a timeout of 0, MariaDB 10.11 fails a SKIP LOCKED that has something to skip (1180).
  const char* at_once() const {
    return lock_wait_ == sql::LockWait::none && is_mariadb() ? "SET STATEMENT innodb_lock_wait_timeout = 0 FOR " : "";
  }
  // How a SELECT locks rows.
  const char* for_update() const { return lock_wait_ == sql::LockWait::none ? kNoWait : kForUpdate; }
  // The same for rows that are about to be settled or renewed: no statement waits for one row while it holds others.
  const char* for_update_of_many() const { return lock_wait_ == sql::LockWait::patient ? kForUpdate : kNoWait; }
  // Ends a read of live rows. The application's transaction may have a snapshot from before they were stored; a read
  // that locks sees the current rows.
  const char* up_to_date() const { return joined() ? "LOCK IN SHARE MODE" : ""; }

 private:
  static constexpr const char* kForUpdate = "FOR UPDATE";
  static constexpr const char* kNoWait = "FOR UPDATE NOWAIT";

  struct Closer {
    bool joined;
    void operator()(MYSQL* handle) const {
      if (!joined) mysql_close(handle);
    }
  };

  void set_up(const MysqlAddress& address);
  void check_writable();
  bool is_galera();
  void check_settings_of_application();
  void read_most_bytes();

  void send(const std::string& statements);
  bool next_reply();  // false if there is no other
  [[noreturn]] void fail();
  bool timed_out() const;

  std::unique_ptr<MYSQL, Closer> handle_;
  std::optional<std::chrono::seconds> patience_;
  std::chrono::seconds lock_timeout_{};
  std::chrono::seconds brief_lock_timeout_{};
  std::chrono::seconds timeout_set_{};  // the one that the server has for this connection
  std::chrono::steady_clock::time_point asked_at_{};
  std::size_t most_bytes_ = std::size_t{16} << 20;
  sql::LockWait lock_wait_ = sql::LockWait::patient;
  int replies_ = 0;
  bool connected_ = false;
  bool broken_ = false;
  server::Demotions demotions_;
  const int demotions_before_ = 0;
};

// --- Error numbers of MariaDB, MySQL and their client library: errors.cpp ---

// `overloaded` for numbers that are not in the table: nothing was done, and another attempt may succeed later.
server::Trouble trouble_of(unsigned code);

// "Access denied for user 'app'@'%' … (1045): check the user and the password in the url".
server::ServerError server_error(unsigned code, std::string_view message);

// For a connection that worked before: after any error of the client library, it cannot be used any more.
bool loses_connection(unsigned code);

// The server is no longer the primary.
bool is_read_only(unsigned code);

// The server has rolled back the whole transaction, not only its last statement.
bool undoes_transaction(unsigned code);

}  // namespace easyretry::storage::mysql
