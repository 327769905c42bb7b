#include "storage/sqlite/count_totals.h"

#include "storage/sqlite/columns.h"
#include "storage/sqlite/statements.h"

namespace easyretry::storage::sqlite {

CountTotals::CountTotals(Connection& db) : db_(db), add_(db.prepare(sql::add_to_count())) {}

void CountTotals::add(const Sums& sums) {
  for (const auto& [key, tasks] : sums.rows()) {
    add_.bind(1, to_ms(key.day)).bind(2, key.space).bind(3, key.handler).bind(4, key.kind).bind(5, tasks);
    add_.run();
  }
}

void CountTotals::join_days(TimePoint before) {
  Sums old;
  {
    Statement taken = db_.prepare(sql::take_days());
    taken.bind(1, to_ms(before));
    Rows rows{taken};
    while (rows.next()) read_count(taken, old);
  }
  old.join_days(before);
  add(old);
}

Counts read_counts(Connection& db, std::string_view space) {
  Statement select = db.prepare(sql::counts());
  select.bind(1, space);
  Sums sums;
  Rows rows{select};
  while (rows.next()) read_count(select, sums);
  return counts_of(sums, space);
}

bool remove_counted(Statement& removal, Outcome outcome, TimePoint now, Sums& sums) {
  bool removed = false;
  Rows rows{removal};
  while (rows.next()) {
    sums.ended(removal.text(0), removal.text(1), outcome, now);
    removed = true;
  }
  return removed;
}

}  // namespace easyretry::storage::sqlite
