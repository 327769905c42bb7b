#include "storage/sqlite/retention.h"

#include <algorithm>
#include <utility>

#include "storage/record_columns.h"
#include "storage/sqlite/search.h"
#include "storage/sqlite/statements.h"

namespace easyretry::storage::sqlite {
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
