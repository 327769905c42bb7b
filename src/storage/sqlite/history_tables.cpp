#include "storage/sqlite/history_tables.h"

#include "storage/sqlite/statements.h"

namespace easyretry::storage::sqlite {
namespace {

constexpr std::string_view kPrefix = "retry_state_";

}  // namespace

std::string month_table(Period month) {
  return std::string{kPrefix} + to_string(month);
}

std::optional<Period> month_of_table(std::string_view table) {
  if (!table.starts_with(kPrefix)) return std::nullopt;
  return parse_period(PeriodLength::month, table.substr(kPrefix.size()));
}

std::vector<std::string> history_tables(Connection& db) {
  PreparedStatement statement = db.prepare(statements::history_tables);
  Rows rows{statement};
  std::vector<std::string> names;
  while (rows.next()) {
    if (month_of_table(statement.text(0))) names.emplace_back(statement.text(0));
  }
  return names;
}

std::string for_month(const storage::Statement& statement, const std::string& table) {
  return statement.with({{"month", std::string_view{table}.substr(kPrefix.size())}});
}

void create_month(Connection& db, const std::string& table) {
  db.run(for_month(statements::month_table, table));
  db.run(for_month(statements::month_indexes, table));
  db.run(for_month(statements::month_view, table));
}

HistoryTables::Table& HistoryTables::at(TimePoint now) {
  const Period month = month_of(now);
  if (!current_ || current_->month != month) {
    const std::string table = month_table(month);
    current_.reset();
    create_month(db_, table);
    current_.emplace(Table{month, db_.prepare(statements::finish_into.with({{"table", table}})),
                           db_.prepare(statements::end_into.with({{"table", table}}))});
  }
  return *current_;
}

std::vector<std::string> HistoryTables::drop_before(Period oldest) {
  std::vector<std::string> dropped;
  for (const std::string& table : history_tables(db_)) {
    const Period month = *month_of_table(table);
    if (month >= oldest) continue;
    forget();
    db_.run(statements::remove_calls_of.with({{"table", table}}));
    db_.run(statements::remove_marks_of.with({{"table", table}}));
    db_.run(for_month(statements::drop_month, table));
    dropped.push_back("retry_task_history_" + to_string(month));
  }
  return dropped;
}

}  // namespace easyretry::storage::sqlite
