#include "storage/sqlite/housekeeping.h"

#include <limits>
#include <utility>

#include "storage/record_columns.h"
#include "storage/sqlite/statements.h"
#include "task/task_id.h"

namespace easyretry::storage::sqlite {
namespace {

// 1 to 3 ms a transaction, and a fraction of a second a call: stopping the engine waits for the call.
constexpr std::int64_t kEntriesATransaction = 1000;
constexpr std::int64_t kRowsATransaction = 2000;
constexpr int kTransactionsACall = 100;

bool is_older(const std::string& table, Period oldest) {
  return *month_of_table(table) < oldest;
}

// Merges the days that are too old to be counted one by one.
void join_days(Session& session, TimePoint before) {
  Sums old;
  {
    PreparedStatement taken = session.db.prepare(statements::take_days);
    taken.bind(1, to_ms(before));
    Rows rows{taken};
    while (rows.next()) read_count(taken, old);
  }
  old.join_days(before);
  session.count_totals.add(old);
}

}  // namespace

Result<KeepReport> Housekeeping::keep() {
  const std::lock_guard lock{mutex_};
  for (int i = 0; i < kTransactionsACall; ++i) {
    auto swept = writer_.write("sqlite.keep", kEntriesATransaction, Answered::at_commit,
                               [&](Session& session, TimePoint now) { return sweep(session, now); });
    if (!swept) return tl::make_unexpected(std::move(swept.error()));
    place_ = swept->until.value_or(Place{});
    if (!swept->until) return KeepReport{.steps = std::move(swept->dropped), .more = false};
  }
  return KeepReport{.steps = {}, .more = true};
}

// Lists the tables again in every transaction: a task may just have finished into a new month.
Housekeeping::Swept Housekeeping::sweep(Session& session, TimePoint now) const {
  join_days(session, first_day_kept(now));
  if (drop_results(session.db, now)) return {.until = place_, .dropped = {}};
  Period oldest = month_of(now);
  oldest.index -= keep_months_;
  std::vector<std::string> kept = history_tables(session.db);
  if (std::erase_if(kept, [&](const std::string& table) { return is_older(table, oldest); }) == 0) return {};
  if (auto until = sweep_some(session.db, place_, oldest, kept)) return {.until = until, .dropped = {}};
  if (shorten(session.db, oldest)) return {.until = place_, .dropped = {}};
  return {.until = std::nullopt, .dropped = drop(session, oldest)};
}

std::vector<KeepStep> Housekeeping::drop(Session& session, Period oldest) {
  std::vector<KeepStep> steps;
  for (std::string& table : session.history.drop_before(oldest)) {
    steps.push_back({.kind = KeepStep::Kind::history_dropped, .table = std::move(table)});
  }
  return steps;
}

// False if all results whose time is over have been removed.
bool Housekeeping::drop_results(Connection& db, TimePoint now) {
  PreparedStatement drop = db.prepare(statements::drop_results);
  return drop.bind(1, to_ms(now)).bind(2, kRowsATransaction).run() == kRowsATransaction;
}

// False if every old table is short enough to be dropped.
bool Housekeeping::shorten(Connection& db, Period oldest) {
  for (const std::string& table : history_tables(db)) {
    if (!is_older(table, oldest)) continue;
    db.prepare(statements::shorten_calls.with({{"table", table}})).bind(1, kRowsATransaction).run();
    db.prepare(statements::shorten_marks.with({{"table", table}})).bind(1, kRowsATransaction).run();
    if (db.prepare(statements::shorten.with({{"table", table}})).bind(1, kRowsATransaction).run() > 0) return true;
  }
  return false;
}

std::optional<Housekeeping::Place> Housekeeping::sweep_some(Connection& db, const Place& from, Period oldest,
                                                            const std::vector<std::string>& kept) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const auto until = place_after(db, from, kEntriesATransaction);
  const Place last = until.value_or(Place{.part = kMost, .hash = kMost, .id = kMost});
  std::string sql = statements::sweep_lookup.str();
  for (const std::string& history : kept) {
    sql.append(" AND NOT EXISTS (SELECT 1 FROM ").append(history).append(" h WHERE h.id = retry_lookup.id)");
  }
  db.prepare(sql)
      .bind(1, from.part)
      .bind(2, from.hash)
      .bind(3, from.id)
      .bind(4, last.part)
      .bind(5, last.hash)
      .bind(6, last.id)
      .bind(7, static_cast<std::int64_t>(task::make_task_id(begin_of(oldest), ShardId{}, 0)))
      .run();
  return until;
}

std::optional<Housekeeping::Place> Housekeeping::place_after(Connection& db, const Place& from, std::int64_t entries) {
  PreparedStatement place = db.prepare(statements::lookup_place);
  place.bind(1, from.part).bind(2, from.hash).bind(3, from.id).bind(4, entries);
  Rows rows{place};
  if (!rows.next()) return std::nullopt;
  return Place{.part = place.integer(0), .hash = place.integer(1), .id = place.integer(2)};
}

}  // namespace easyretry::storage::sqlite
