#include "storage/sqlite/history_tables.h"

#include "storage/sqlite/migrations.h"
#include "storage/sqlite/statements.h"

namespace easyretry::storage::sqlite {

HistoryTables::Table& HistoryTables::at(TimePoint now) {
  const Month month = month_of(now);
  if (!current_ || current_->month != month) {
    const std::string table = history_table(month);
    current_.reset();
    db_.run(create_history(table));
    current_.emplace(Table{month, db_.prepare(sql::finish_into(table)), db_.prepare(sql::cancel_into(table))});
  }
  return *current_;
}

std::vector<std::string> HistoryTables::drop_before(Month oldest) {
  std::vector<std::string> dropped;
  for (const std::string& table : history_tables(db_)) {
    if (month_of_table(table).value_or(oldest) >= oldest) continue;
    forget();
    db_.run(sql::remove_calls_of(table));
    db_.run(sql::remove_marks_of(table));
    db_.run("DROP VIEW IF EXISTS " + history_view(table) + "; DROP TABLE " + table);
    dropped.push_back(history_view(table));
  }
  return dropped;
}

std::vector<std::string> history_tables(Connection& db) {
  Statement statement = db.prepare(sql::history_tables());
  Rows rows{statement};
  std::vector<std::string> names;
  while (rows.next()) {
    if (month_of_table(statement.text(0))) names.emplace_back(statement.text(0));
  }
  return names;
}

}  // namespace easyretry::storage::sqlite
