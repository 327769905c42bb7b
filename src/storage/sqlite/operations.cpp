#include "storage/sqlite/operations.h"

#include "base/later.h"
#include "storage/sqlite/columns.h"
#include "storage/sqlite/statements.h"
#include "task/task_key.h"

namespace easyretry::storage::sqlite {
Operations::Operations(Connection& db, Lookup& lookup, Calls& calls, HistoryTables& tables, History history, Sums& sums,
                       GrowingIds& ids, int total_shards)
    : db_(db),
      lookup_(lookup),
      calls_(calls),
      tables_(tables),
      history_(history),
      sums_(sums),
      ids_(ids),
      total_shards_(total_shards),
      removals_(db, sums),
      revise_(db.prepare(sql::revise())),
      tell_(db.prepare(sql::cancel_and_tell())),
      remove_(db.prepare(sql::remove())),
      mark_(db.prepare(sql::mark_requeued())) {}

Applied Operations::revise(std::span<const Revision> revisions, TimePoint now) {
  Applied reply{.now = now, .applied = {}};
  for (const Revision& revision : revisions) reply.applied.push_back(revise_one(revision, now));
  return reply;
}

bool Operations::revise_one(const Revision& revision, TimePoint now) {
  const auto due = revision.delay ? std::optional{to_ms(base::later(now, *revision.delay))} : std::nullopt;
  revise_.bind(1, number(revision.ticket.id)).bind(2, revision.ticket.version).bind(3, to_ms(now));
  if (revise_.bind_or_null(4, due).run() == 0) return false;
  if (revision.rules) calls_.update_rules(revision.ticket.id, *revision.rules);
  return true;
}

Applied Operations::cancel(std::span<const TaskId> ids, Cancel how, TimePoint now) {
  Applied reply{.now = now, .applied = {}};
  for (const TaskId id : ids) reply.applied.push_back(how == Cancel::end ? end(id, now) : tell(id, now));
  return reply;
}

bool Operations::end(TaskId id, TimePoint now) {
  const bool kept = keeps(history_, Outcome::cancelled);
  if (kept) {
    Statement& move = tables_.cancel(now).bind(1, number(id)).bind(3, to_ms(now)).bind_null(4);
    move.bind(5, to_string(Outcome::cancelled)).run();
  }
  if (!removals_.run(remove_.bind(1, number(id)), id, Outcome::cancelled, now)) return false;
  if (!kept) calls_.remove(id);
  return true;
}

bool Operations::tell(TaskId id, TimePoint now) {
  return tell_.bind(1, number(id)).bind(3, to_ms(now)).bind(5, to_string(Outcome::cancelled)).run() == 1;
}

std::vector<std::optional<TaskId>> Operations::requeue(std::span<const TaskId> ids, TimePoint now) {
  const std::vector<std::string> tables = history_tables(db_);
  std::vector<std::optional<TaskId>> started(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (auto table = tables.rbegin(); table != tables.rend() && !started[i]; ++table) {
      started[i] = requeue_from(*table, ids[i], now);
    }
  }
  return started;
}

std::optional<TaskId> Operations::requeue_from(const std::string& table, TaskId id, TimePoint now) {
  enum Column : int { kSpace, kKey, kBusinessId, kHandler };
  Statement ended = db_.prepare(sql::finished_identity(table));
  ended.bind(1, number(id));
  Rows found{ended};
  if (!found.next() || lookup_.live(ended.text(kSpace), ended.text(kKey))) return std::nullopt;
  const ShardId shard = task::shard_for(ended.text(kBusinessId), ended.text(kKey), total_shards_);
  const TaskId fresh = ids_.next(now, shard);
  Statement start = db_.prepare(sql::requeue_from(table));
  if (start.bind(1, number(id))
          .bind(2, number(fresh))
          .bind(3, to_ms(now))
          .bind(4, static_cast<std::int64_t>(shard))
          .run() == 0)
    return std::nullopt;
  mark_.bind(1, number(id)).bind(2, number(fresh)).run();
  calls_.copy(id, fresh, now);
  sums_.stored(ended.text(kSpace), ended.text(kHandler), now);
  return fresh;
}

}  // namespace easyretry::storage::sqlite
