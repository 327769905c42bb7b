#pragma once
// PGconn and PGresult as values. Binary both ways: nothing is escaped, nothing is parsed. What fails is thrown as
// server::ServerError.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <libpq-fe.h>

namespace easyretry::storage::postgres {

// The rows of one answer. A NULL reads as 0 and "".
class Rows {
 public:
  explicit Rows(PGresult* result) : result_(result) {}
  int size() const { return PQntuples(result_.get()); }
  bool is_null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }
  std::int64_t integer(int row, int column) const;  // of 2, 4 or 8 bytes
  std::string_view text(int row, int column) const {
    return {PQgetvalue(result_.get(), row, column), static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
  }
  PGresult* get() const { return result_.get(); }

  // make(row) of each row.
  template <class Make>
  auto each(Make make) const {
    std::vector<std::invoke_result_t<Make, int>> all;
    all.reserve(static_cast<std::size_t>(size()));
    for (int row = 0; row < size(); ++row) all.push_back(make(row));
    return all;
  }

 private:
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

// One row, as read_record wants it.
struct Row {
  const Rows& rows;
  int row;
  std::int64_t integer(int column) const { return rows.integer(row, column); }
  std::string_view text(int column) const { return rows.text(row, column); }
  bool is_null(int column) const { return rows.is_null(row, column); }
};

// The values of $1, $2, … in order.
class Params {
 public:
  Params& add(std::int64_t value);
  Params& add(std::optional<std::int64_t> value);
  Params& add(std::string_view text);
  // One array: a column of a batch, for unnest.
  Params& add(std::span<const std::int64_t> values);
  Params& add(std::span<const std::optional<std::int64_t>> values);
  enum class As { text, bytes };
  Params& add(std::span<const std::string_view> values, As as = As::text);
  // A view of nothing (no data, not even "") is NULL.
  Params& add_nullable(std::span<const std::string_view> values, As as = As::text);
  Params& add_nullable(std::string_view value, As as = As::text);

  std::size_t size() const { return values_.size(); }

 private:
  friend class Connection;
  std::vector<std::optional<std::string>> values_;
  std::vector<Oid> types_;
};

class Connection {
 public:
  explicit Connection(const std::string& settings);  // key='value' …
  // Somebody else's, who closes it. Nothing is prepared on it, and no setting changed.
  explicit Connection(PGconn* theirs) : handle_(theirs, Finish{true}) {}
  bool is_theirs() const { return handle_.get_deleter().theirs; }
  Connection(Connection&&) = default;

  bool broken() const { return lost_ || PQstatus(handle_.get()) != CONNECTION_OK; }
  bool in_transaction() const { return PQtransactionStatus(handle_.get()) == PQTRANS_INTRANS; }
  // Of the database.
  std::string encoding() const;
  // Both give up, with Trouble::silent, on a server that says nothing for kPatience.
  static constexpr std::chrono::seconds kPatience{10};
  // As it stands in a statement.
  std::string literal(std::string_view text);
  // One statement or several, as text: rows come back as text too.
  Rows run(const std::string& sql);
  // Prepared on its first use, if the connection is ours.
  Rows run(const std::string& sql, const Params& params);

 private:
  const std::string& prepared(const std::string& sql, const Params& params);
  Rows answer(int sent);
  void flush(std::chrono::nanoseconds& patience);
  void read(std::chrono::nanoseconds& patience);
  void wait_for(short events, std::chrono::nanoseconds& patience);
  void consume();

  struct Finish {
    Finish() : theirs(false) {}
    explicit Finish(bool borrowed) : theirs(borrowed) {}
    bool theirs;
    void operator()(PGconn* connection) const {
      if (!theirs) PQfinish(connection);
    }
  };
  std::unique_ptr<PGconn, Finish> handle_;
  bool lost_ = false;
  std::unordered_map<std::string, std::string> names_;  // of prepared statements, by text
};

}  // namespace easyretry::storage::postgres
