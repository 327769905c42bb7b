#pragma once
// PGconn and PGresult as values. Binary both ways: nothing is escaped or parsed. Failures are thrown as
// server::ServerError.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <libpq-fe.h>

#include "storage/postgres/params.h"
#include "storage/server/server_error.h"
#include "storage/statement.h"

namespace easyretry::storage::postgres {

// The rows of one answer. A NULL reads as 0 and "".
class Rows {
 public:
  explicit Rows(PGresult* result) : result_(result) {}
  int size() const { return PQntuples(result_.get()); }
  int columns() const { return PQnfields(result_.get()); }
  bool is_null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }
  std::int64_t integer(int row, int column) const;  // of 2, 4 or 8 bytes
  std::string_view text(int row, int column) const {
    return {PQgetvalue(result_.get(), row, column), static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
  }
  std::string str(int row, int column) const { return std::string{text(row, column)}; }
  PGresult* get() const { return result_.get(); }

  // Calls make(row) for each row.
  template <class Make>
  auto each(Make make) const {
    std::vector<std::invoke_result_t<Make, int>> all;
    all.reserve(static_cast<std::size_t>(size()));
    for (int row = 0; row < size(); ++row) all.push_back(make(row));
    return all;
  }
  std::vector<TaskId> ids() const;                // the first column
  std::vector<task::TaskRecord> records() const;  // RecordColumn

 private:
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

// One row in the form that read_record expects.
struct Row {
  const Rows& rows;
  int row;
  int columns() const { return rows.columns(); }
  std::int64_t integer(int column) const { return rows.integer(row, column); }
  std::string_view text(int column) const { return rows.text(row, column); }
  bool is_null(int column) const { return rows.is_null(row, column); }
};

class Connection {
 public:
  explicit Connection(const std::string& settings, const server::Demotions& demotions = {});  // key='value' …
  // A connection of the application, which also closes it. Nothing is prepared on it, and no setting is changed.
  explicit Connection(PGconn* borrowed) : handle_(borrowed, Finish{true}) {}
  bool is_borrowed() const { return handle_.get_deleter().borrowed; }

  // Whether there is a pooler between us and the server, in whatever mode: then the next transaction may run in another
  // session of the server, so nothing is prepared, and settings hold for one transaction. Never on a borrowed
  // connection.
  bool behind_pooler() const { return behind_pooler_; }

  bool broken() const {
    return lost_ || demotions_.count() != demotions_before_ || PQstatus(handle_.get()) != CONNECTION_OK;
  }
  bool in_transaction() const { return PQtransactionStatus(handle_.get()) == PQTRANS_INTRANS; }
  int server_version() const { return PQserverVersion(handle_.get()); }  // 150019
  // The encoding of the database.
  std::string encoding() const;
  // The text as a literal in a statement.
  std::string literal(std::string_view text);

  // Every run() gives up, with Trouble::silent, on a server that says nothing for kPatience.
  static constexpr std::chrono::seconds kPatience{10};
  // One statement or several, as text: rows come back as text too.
  Rows run(const std::string& sql);
  Rows run(const Statement& statement) { return run(statement.str()); }
  // Prepared on its first use, unless the connection is borrowed or behind a pooler.
  Rows run(std::string_view sql, const Params& params);
  Rows run(const Statement& statement, const Params& params) { return run(statement.text, params); }
  // If it fails, the connection is broken, and the server rolls back by itself.
  void roll_back() noexcept;

 private:
  const std::string& prepared(std::string_view sql, const Params& params);
  Rows answer(int sent);
  void flush(std::chrono::nanoseconds& patience);
  void read(std::chrono::nanoseconds& patience);
  void wait_for(short events, std::chrono::nanoseconds& patience);
  void consume();

  struct Finish {
    Finish() : borrowed(false) {}
    explicit Finish(bool is_borrowed) : borrowed(is_borrowed) {}
    bool borrowed;
    void operator()(PGconn* connection) const {
      if (!borrowed) PQfinish(connection);
    }
  };
  struct TextHash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  server::Demotions demotions_;     // shared by the connections of a store
  const int demotions_before_ = 0;  // before it connected
  std::unique_ptr<PGconn, Finish> handle_;
  bool lost_ = false;
  bool behind_pooler_ = false;
  std::unordered_map<std::string, std::string, TextHash, std::equal_to<>> names_;  // of prepared statements, by text
};

// By SQLSTATE, as in appendix A of PostgreSQL's documentation.
server::Trouble trouble_of(std::string_view sqlstate);

}  // namespace easyretry::storage::postgres
