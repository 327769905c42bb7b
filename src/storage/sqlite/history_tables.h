#pragma once
// The months of history as the writer sees them. A month's table is made in the transaction that first needs it.

#include <optional>
#include <string>
#include <vector>

#include "storage/sqlite/connection.h"
#include "storage/sqlite/months.h"

namespace easyretry::storage::sqlite {

class HistoryTables {
 public:
  explicit HistoryTables(Connection& db) : db_(db) {}

  // The statements that move a row into the month of `now`; the caller removes it from the live table.
  Statement& finish(TimePoint now) { return at(now).finish; }
  Statement& cancel(TimePoint now) { return at(now).cancel; }

  // A rollback takes a table made in its transaction with it.
  void forget() { current_.reset(); }

  std::vector<std::string> drop_before(Month oldest);

 private:
  struct Table {
    Month month;
    Statement finish;
    Statement cancel;
  };
  Table& at(TimePoint now);

  Connection& db_;
  std::optional<Table> current_;
};

std::vector<std::string> history_tables(Connection& db);  // names, oldest month first

}  // namespace easyretry::storage::sqlite
