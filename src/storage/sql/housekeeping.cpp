#include "storage/sql/housekeeping.h"

namespace easyretry::storage::sql {
namespace {

// Rows a transaction moves: locked for a few milliseconds.
constexpr std::size_t kRowsAMove = 500;
// Moves a call of keep(): what is left over is for the next one, so that nobody waits for it.
constexpr int kMovesACall = 20;
// Of retry_keeper_log.
constexpr Millis kRemembered = std::chrono::days{400};

}  // namespace

KeepReport Housekeeping::keep(TimePoint now, const std::string& where) {
  KeepReport report;
  make_ahead(now, report);
  empty_what_leaves(now, where, report);
  drop_old_history(now, report);
  if (!report.dropped_tables.empty()) tables_.forget();
  return report;
}

void Housekeeping::make_ahead(TimePoint now, KeepReport& report) {
  const auto made = tables_.ensure_tasks(now);
  for (const std::string& table : made) note({.action = "made", .table = table}, now);
  report.made_tables.insert(report.made_tables.end(), made.begin(), made.end());
  tables_.ensure(history_table(begin_of(next(period_at(PeriodLength::month, now)))));
}

void Housekeeping::empty_what_leaves(TimePoint now, const std::string& where, KeepReport& report) {
  if (tables_.router().layout().kind() != Layout::Kind::period) return;
  const std::vector<std::string> existing = pool_.take()->tables();
  for (const TableId table : tables_.router().leaving(existing, now)) {
    if (!emptied(table, now, where, report)) return;
    const std::string name = tables_.router().name(table);
    if (pool_.take()->drop_empty(name)) {
      note({.action = "dropped", .table = name}, now);
      report.dropped_tables.push_back(name);
    } else {
      report.more = true;  // somebody who was held up for days wrote to it just now
    }
  }
}

// To the youngest table with the same shards. Gives false where more is left than one call does.
bool Housekeeping::emptied(TableId table, TimePoint now, const std::string& where, KeepReport& report) {
  const TableRouter router = tables_.router();
  const TableId youngest{.period = router.table_of(now, ShardId{}).period, .suffix = table.suffix};
  for (int moves = 0; moves < kMovesACall; ++moves) {
    const auto moved = writes_.run(where, Promise::kept, [&](Session& session, TimePoint) {
      const std::size_t rows =
          session.move({router.name(table), tables_.required(router.name(youngest)), kRowsAMove}).rows;
      if (rows > 0) {
        session.note({"emptied", router.name(table), static_cast<std::int64_t>(rows)}, now, now - kRemembered);
      }
      return rows;
    });
    if (!moved) throw ServerError{Trouble::again, moved.error().detail};
    report.moved += *moved;
    if (*moved < kRowsAMove) return true;
  }
  report.more = true;
  return false;
}

void Housekeeping::drop_old_history(TimePoint now, KeepReport& report) {
  const auto session = pool_.take();
  const Period month = period_at(PeriodLength::month, now);
  for (const std::string& table : tables_.histories(*session)) {
    if (month_of_history_table(table)->index > month.index - keep_months_) continue;
    session->drop(table);
    session->note({.action = "dropped", .table = table}, now, now - kRemembered);
    report.dropped_tables.push_back(table);
  }
}

void Housekeeping::note(const KeeperNote& note, TimePoint now) {
  pool_.take()->note(note, now, now - kRemembered);
}

}  // namespace easyretry::storage::sql
