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

CountedRemovals::CountedRemovals(Connection& db, Sums& sums) : sums_(sums), names_(db.prepare(sql::names())) {}

// Not DELETE … RETURNING, which collects its rows in a table first.
bool CountedRemovals::run(Statement& removal, TaskId id, Outcome outcome, TimePoint now) {
  std::string space;
  std::string handler;
  {
    names_.bind(1, number(id));
    Rows rows{names_};
    if (!rows.next()) return false;
    space = names_.text(0);
    handler = names_.text(1);
  }
  if (removal.run() == 0) return false;
  sums_.ended(space, handler, outcome, now);
  return true;
}

// A read saved: a twentieth of what draining costs.
bool CountedRemovals::run(Statement& removal, const Settlement& settlement, TimePoint now) {
  if (settlement.handler.empty()) return run(removal, settlement.ticket.id, settlement.outcome, now);
  if (removal.run() == 0) return false;
  sums_.ended(settlement.space, settlement.handler, settlement.outcome, now);
  return true;
}

}  // namespace easyretry::storage::sqlite
