#include "storage/sql/housekeeping.h"

#include <algorithm>
#include <utility>

namespace easyretry::storage::sql {
namespace {

using Kind = KeepStep::Kind;

// Rows per transaction: they are locked for a few milliseconds.
constexpr std::size_t kRowsAMove = 500;
// Moves per call of keep(). The next call does the rest, so that no caller waits for long.
constexpr int kMovesACall = 20;
// Entries of retry_keeper_log.
constexpr Millis kRemembered = std::chrono::days{400};

// Counts all moves out of one table as one step.
void add_emptied(const KeepStep& moved, KeepReport& report) {
  if (moved.rows == 0) return;
  const bool goes_on =
      !report.steps.empty() && report.steps.back().kind == moved.kind && report.steps.back().table == moved.table;
  if (goes_on) {
    report.steps.back().rows += moved.rows;
  } else {
    report.steps.push_back(moved);
  }
}

// Takes a few milliseconds. This is as much as 200 transactions a second leave in five seconds.
constexpr std::size_t kRowsAFold = 1000;

}  // namespace

// Reports the finished steps even if the rest failed: if the failure persists, the next call reports it.
KeepReport Housekeeping::keep(TimePoint now, const std::string& where) {
  KeepReport report;
  try {
    take_steps(now, where, report);
  } catch (const ServerError&) {
    if (report.steps.empty()) throw;
    report.more = true;
  }
  const auto dropped = [](const KeepStep& step) {
    return step.kind == Kind::dropped || step.kind == Kind::history_dropped;
  };
  if (std::any_of(report.steps.begin(), report.steps.end(), dropped)) tables_.forget();
  return report;
}

void Housekeeping::take_steps(TimePoint now, const std::string& where, KeepReport& report) {
  make_ahead(now, report);
  empty_what_leaves(now, where, report);
  drop_old_history(now, report);
  drop_old_results(now, where, report);
  join_days(now, where, report);
}

void Housekeeping::make_ahead(TimePoint now, KeepReport& report) {
  for (std::string& table : tables_.ensure_tasks(now)) {
    note(*pool_.take(), {Kind::made, std::move(table)}, now, report);
  }
  tables_.ensure(history_table(begin_of(next(period_at(PeriodLength::month, now)))));
}

void Housekeeping::empty_what_leaves(TimePoint now, const std::string& where, KeepReport& report) {
  if (tables_.router().layout().kind() != Layout::Kind::period) return;
  const std::vector<std::string> existing = pool_.take()->schema().tables();
  for (const TableId table : tables_.router().leaving(existing, now)) {
    if (!emptied(table, now, where, report)) return;
    const std::string name = tables_.router().name(table);
    if (pool_.take()->schema().drop_empty(name)) {
      note(*pool_.take(), {Kind::dropped, name}, now, report);
    } else {
      report.more = true;  // an instance that was held up for days has just written to it
    }
  }
}

// Moves rows to the youngest table with the same shards. Returns false if more is left than one call does.
bool Housekeeping::emptied(TableId table, TimePoint now, const std::string& where, KeepReport& report) {
  const TableRouter router = tables_.router();
  const TableId youngest{.period = router.table_of(now, ShardId{}).period, .suffix = table.suffix};
  tables_.complete(*pool_.take(), router.name(table));
  for (int moves = 0; moves < kMovesACall; ++moves) {
    const auto moved = writes_.run(where, Promise::kept, Locks::waited_for, [&](Session& session, TimePoint) {
      KeepStep step{Kind::emptied, router.name(table)};
      const auto rows = session.schema().move({step.table, tables_.required(router.name(youngest)), kRowsAMove}).rows;
      step.rows = static_cast<std::int64_t>(rows);
      if (rows > 0) session.schema().note(step, now, now - kRemembered);
      return step;
    });
    if (!moved) throw ServerError{Trouble::again, moved.error().detail};
    add_emptied(*moved, report);
    if (moved->rows < static_cast<std::int64_t>(kRowsAMove)) return true;
  }
  report.more = true;
  return false;
}

void Housekeeping::drop_old_history(TimePoint now, KeepReport& report) {
  const auto session = pool_.take();
  const Period month = period_at(PeriodLength::month, now);
  for (const std::string& table : tables_.histories(*session)) {
    if (month_of_history_table(table)->index > month.index - keep_months_) continue;
    session->schema().drop(table);
    note(*session, {Kind::history_dropped, table}, now, report);
  }
}

// The next call does the rest. If a removal is lost, it is repeated, so no promise is needed.
void Housekeeping::drop_old_results(TimePoint now, const std::string& where, KeepReport& report) {
  const auto dropped = writes_.run(where, Promise::unneeded, Locks::waited_for, [&](Session& session, TimePoint) {
    return session.ledger().drop_results(now, kRowsAMove);
  });
  if (!dropped) throw ServerError{Trouble::again, dropped.error().detail};
  report.more |= *dropped == kRowsAMove;
}

void Housekeeping::join_days(TimePoint now, const std::string& where, KeepReport& report) {
  const auto more = writes_.run(where, Promise::unneeded, Locks::waited_for,
                                [&](Session& session, TimePoint) { return fold_days(session, now); });
  if (!more) throw ServerError{Trouble::again, more.error().detail};
  report.more |= *more;
}

void Housekeeping::note(Session& session, KeepStep step, TimePoint now, KeepReport& report) {
  report.steps.push_back(std::move(step));
  session.schema().note(report.steps.back(), now, now - kRemembered);
}

bool fold_sums(Session& session) {
  Sums sums;
  const std::size_t taken = session.ledger().take_sums(kRowsAFold, sums);
  if (taken > 0) session.ledger().add_totals(sums);
  return taken == kRowsAFold;
}

bool fold_days(Session& session, TimePoint now) {
  const TimePoint first = first_day_kept(now);
  Sums sums;
  const std::size_t taken = session.ledger().take_days(first, kRowsAFold, sums);
  sums.join_days(first);
  if (taken > 0) session.ledger().add_totals(sums);
  return taken == kRowsAFold;
}

namespace {

// The number of rows that a transaction looks at: a few milliseconds.
constexpr std::size_t kRowsASlice = 1000;
// The number of slices in a call. The next call does the rest, so that no caller waits for long.
constexpr int kSlicesACall = 20;

// The first tasks of the walk, complete up to `end`.
struct Slice {
  std::vector<EndedAt> tasks;
  TimePoint end;
};

// A batch of settlements ends its tasks in the same millisecond. If more than a slice of tasks have ended in one, the
// slice includes them all.
Slice read_slice(Session& session, const std::string& history, const Walk& walk) {
  for (std::size_t limit = kRowsASlice;; limit *= 4) {
    Slice slice{session.ledger().ended(history, walk, limit), walk.until};
    if (slice.tasks.size() < limit) return slice;
    slice.end = slice.tasks.back().finished_at;
    if (slice.end == slice.tasks.front().finished_at) continue;
    std::erase_if(slice.tasks, [&](const EndedAt& task) { return task.finished_at == slice.end; });
    return slice;
  }
}

}  // namespace

Result<bool> RetentionSweep::run(std::span<const Retention> rules, TimePoint now) {
  const auto marks = reads_.run(where_, [](Session& session) { return session.ledger().retention_marks(); });
  if (!marks) return tl::make_unexpected(marks.error());
  int slices = 0;
  for (Walk& walk : walks(rules, *marks, now)) {
    while (walk.from < walk.until) {
      if (++slices > kSlicesACall) return true;
      const auto next = writes_.run(where_, Promise::unneeded, Locks::waited_for,
                                    [&](Session& session, TimePoint) { return slice(session, walk); });
      if (!next) return tl::make_unexpected(next.error());
      walk.from = *next;
    }
  }
  return false;
}

TimePoint RetentionSweep::slice(Session& session, const Walk& walk) {
  TimePoint next = walk.until;
  const std::vector<std::string> newest_first = tables_.histories(session);
  for (auto table = newest_first.rbegin(); table != newest_first.rend(); ++table) {
    const Period month = *month_of_history_table(*table);
    Walk here = walk;
    here.from = std::max(walk.from, begin_of(month));
    here.until = std::min(walk.until, end_of(month));
    if (here.from >= here.until) continue;
    next = remove(session, *table, here);
    break;
  }
  session.ledger().mark_retention(walk, next);
  return next;
}

TimePoint RetentionSweep::remove(Session& session, const std::string& history, const Walk& walk) {
  const Slice slice = read_slice(session, history, walk);
  std::vector<TaskId> ids;
  for (const EndedAt& task : slice.tasks) {
    if (task.expires) ids.push_back(task.id);
  }
  std::sort(ids.begin(), ids.end());
  if (ids.empty()) return slice.end;
  walk.what == Expiry::tasks ? session.remove(history, ids) : session.ledger().remove_arguments(history, ids);
  return slice.end;
}

}  // namespace easyretry::storage::sql
