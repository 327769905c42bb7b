#include "storage/sqlite/housekeeping.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "storage/record_columns.h"
#include "storage/sqlite/search.h"
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

namespace {

// 5 ms a transaction, and a fraction of a second a call: stopping the engine waits for the call.
constexpr std::size_t kTasksATransaction = 1000;
constexpr int kSweepsACall = 50;

RetentionMarks marks_in(Connection& db) {
  enum MarkColumn : int { kNamespace, kHandler, kTasksUntil, kParamsUntil };
  PreparedStatement select = db.prepare(statements::retention_marks);
  Rows rows{select};
  RetentionMarks marks;
  while (rows.next()) {
    marks[{std::string{select.text(kNamespace)}, std::string{select.text(kHandler)}}] = {
        from_ms(select.integer(kTasksUntil)), from_ms(select.integer(kParamsUntil))};
  }
  return marks;
}

void mark(Connection& db, const Walk& walk) {
  const bool tasks = walk.what == Expiry::tasks;
  db.prepare(statements::mark_retention)
      .bind(1, walk.name_space)
      .bind(2, walk.handlers.front())
      .bind(3, to_ms(tasks ? walk.until : TimePoint{}))
      .bind(4, to_ms(tasks ? TimePoint{} : walk.until))
      .run();
}

TaskQuery query_of(const Walk& walk, TaskId after) {
  TaskQuery query{.name_space = walk.name_space, .finished = true, .handler = walk.handlers.front()};
  query.finished_at = {walk.from, walk.until};
  query.requeued = true;
  query.after = after;
  query.limit = kTasksATransaction;
  return query;
}

void remove_tasks(Session& session, const std::string& month, std::span<const TaskId> ids) {
  PreparedStatement row = session.db.prepare(statements::expire_task.with({{"table", month}}));
  PreparedStatement requeued = session.db.prepare(statements::remove_requeued_mark);
  for (const TaskId id : ids) {
    if (row.bind(1, number(id)).run() == 0) continue;
    requeued.bind(1, number(id)).run();
    session.calls.remove_ended(id);
  }
}

void remove_arguments(Connection& db, const std::string& month, std::span<const TaskId> ids) {
  PreparedStatement arguments = db.prepare(statements::expire_arguments.with({{"table", month}}));
  for (const TaskId id : ids) arguments.bind(1, number(id)).run();
}

}  // namespace

Result<bool> RetentionSweep::run(std::span<const Retention> rules) {
  if (rules.empty()) return false;
  const std::lock_guard lock{mutex_};
  for (int i = 0; i < kSweepsACall; ++i) {
    auto step = writer_.write("sqlite.expire", kTasksATransaction, Answered::at_commit,
                              [&](Session& session, TimePoint now) { return this->step(session, rules, now); });
    if (!step) return tl::make_unexpected(std::move(step.error()));
    place_ = std::move(step->place);
    if (!step->more) return false;
  }
  return true;
}

RetentionSweep::Step RetentionSweep::step(Session& session, std::span<const Retention> rules, TimePoint now) const {
  const auto place = place_in(walks(rules, marks_in(session.db), now));
  if (!place) return {.more = false};
  if (auto next = remove_some(session, *place)) return {.place = std::move(next)};
  mark(session.db, place->walk);
  return {};
}

// A walk that has begun goes on with the end that it began with, unless the rules have changed since.
std::optional<RetentionSweep::Place> RetentionSweep::place_in(const std::vector<Walk>& wanted) const {
  const auto continues = [this](const Walk& walk) {
    return walk.name_space == place_->walk.name_space && walk.what == place_->walk.what &&
           walk.until >= place_->walk.until && std::ranges::count(walk.handlers, place_->walk.handlers.front()) > 0;
  };
  if (place_ && std::ranges::any_of(wanted, continues)) return place_;
  if (wanted.empty()) return std::nullopt;
  Walk first = wanted.front();
  first.handlers.resize(1);
  return Place{.walk = std::move(first)};
}

// nullopt: there is nothing more to remove.
std::optional<RetentionSweep::Place> RetentionSweep::remove_some(Session& session, const Place& from) {
  for (const std::string& month : history_tables(session.db)) {
    if (month < from.month || !overlaps(*month_of_table(month), {from.walk.from, from.walk.until})) continue;
    const TaskId after = month == from.month ? from.after : TaskId{};
    const std::vector<TaskId> ids = ids_in_month(session.db, query_of(from.walk, after), month);
    if (ids.empty()) continue;
    if (from.walk.what == Expiry::tasks) {
      remove_tasks(session, month, ids);
    } else {
      remove_arguments(session.db, month, ids);
    }
    return Place{from.walk, month, ids.back()};
  }
  return std::nullopt;
}

}  // namespace easyretry::storage::sqlite
