#pragma once
// Finished tasks lie in a table for the month in which they ended, UTC: retry_state_202603. The view
// retry_task_history_202603 shows them with their calls. A month's table is made in the transaction that first needs
// it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/period.h"
#include "storage/sqlite/connection.h"

namespace easyretry::storage::sqlite {

inline Period month_of(TimePoint time) {
  return period_at(PeriodLength::month, time);
}
std::string month_table(Period month);
std::optional<Period> month_of_table(std::string_view table);  // nullopt: not a table of history

std::vector<std::string> history_tables(Connection& db);  // names, oldest month first

// Makes the table with its indexes and its view, each if it is missing.
void create_month(Connection& db, const std::string& table);

// The statement with {month} filled in: 202603.
std::string for_month(const storage::Statement& statement, const std::string& table);

// The months as the writer sees them.
class HistoryTables {
 public:
  explicit HistoryTables(Connection& db) : db_(db) {}

  // The statements that copy a row into the month of `now`; the caller removes it from retry_state.
  PreparedStatement& finish(TimePoint now) { return at(now).finish; }
  PreparedStatement& end(TimePoint now) { return at(now).end; }

  // A rollback removes a table that was made in its transaction.
  void forget() { current_.reset(); }

  std::vector<std::string> drop_before(Period oldest);  // returns the names of the views

 private:
  struct Table {
    Period month;
    PreparedStatement finish;
    PreparedStatement end;
  };
  Table& at(TimePoint now);

  Connection& db_;
  std::optional<Table> current_;
};

}  // namespace easyretry::storage::sqlite
