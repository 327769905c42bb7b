#pragma once
// One connection to a server, and the rows it gives. For one thread at a time. Everything throws server::ServerError.

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
  std::string_view text(int column) const;  // until the next next()
  std::int64_t integer(int column) const;
  int columns() const { return static_cast<int>(mysql_num_fields(result_.get())); }

 private:
  std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> result_;
  MYSQL_ROW row_ = nullptr;
  const unsigned long* lengths_ = nullptr;
};

class Connection {
 public:
  explicit Connection(const MysqlAddress& address);
  // Somebody else's, who closes it, and has it wait as long as they like. No setting is changed.
  explicit Connection(MYSQL* theirs) : handle_(theirs, Close{true}), connected_(true) {}

  bool is_theirs() const { return handle_.get_deleter().theirs; }
  // What to append to a read of live rows. Somebody else's transaction may look at a moment before they were stored; a
  // read that locks looks at now.
  const char* up_to_date() const { return is_theirs() ? " LOCK IN SHARE MODE" : ""; }
  bool broken() const { return broken_; }
  // By the last answer. Without autocommit every statement is inside of one.
  bool in_transaction() const {
    return (handle_->server_status & SERVER_STATUS_IN_TRANS) != 0 ||
           (handle_->server_status & SERVER_STATUS_AUTOCOMMIT) == 0;
  }
  bool is_mariadb() const;
  unsigned long version() const;  // 101106 for 10.11.6

  // One statement or, on a connection of ours, several, parted by semicolons, in one round trip. The first that fails
  // is the last that is done. Gives the rows changed by the last.
  std::uint64_t run(const std::string& statements);
  // Two statements, on any connection, in as few round trips as it allows.
  std::uint64_t run_both(const std::string& first, const std::string& second);
  // The rows that the last of the statements gives.
  Rows select(const std::string& statements);
  // What the last statement gave to LAST_INSERT_ID(…); 0 where it gave nothing.
  std::int64_t insert_id() const { return static_cast<std::int64_t>(mysql_insert_id(handle_.get())); }
  // How many of the statements last sent were answered, as done.
  int replies() const { return replies_; }
  // The first column of the first row.
  std::string ask(const std::string& statement);

  // What to put before an INSERT: it meets keys, for which there is no NOWAIT. Not for all of a session: with a timeout
  // of 0, MariaDB 10.11 fails a SKIP LOCKED that has something to skip (1180).
  const char* at_once() const {
    return lock_wait_ == sql::LockWait::none && is_mariadb() ? "SET STATEMENT innodb_lock_wait_timeout = 0 FOR " : "";
  }
  // How a SELECT locks what it finds, and what is about to be settled or renewed: there nobody waits for one row while
  // holding those of others.
  const char* for_update() const { return lock_wait_ == sql::LockWait::none ? kAtOnce : " FOR UPDATE"; }
  const char* for_update_of_many() const { return lock_wait_ == sql::LockWait::patient ? " FOR UPDATE" : kAtOnce; }
  void wait_for_locks(sql::LockWait wait) { lock_wait_ = wait; }

  // What a statement may have at most: the server refuses longer ones.
  std::size_t most_bytes() const { return most_bytes_; }
  void set_most_bytes(std::size_t bytes) { most_bytes_ = bytes; }

 private:
  static constexpr const char* kAtOnce = " FOR UPDATE NOWAIT";

  void send(const std::string& statements);
  bool next_reply();  // false: there is none
  [[noreturn]] void fail();

  bool waited_in_vain() const;

  struct Close {
    bool theirs;
    void operator()(MYSQL* handle) const {
      if (!theirs) mysql_close(handle);
    }
  };
  std::unique_ptr<MYSQL, Close> handle_;
  std::optional<std::chrono::seconds> patience_;
  std::chrono::steady_clock::time_point asked_at_{};
  std::size_t most_bytes_ = std::size_t{16} << 20;
  sql::LockWait lock_wait_ = sql::LockWait::patient;
  int replies_ = 0;
  bool connected_ = false;
  bool broken_ = false;
};

}  // namespace easyretry::storage::mysql
