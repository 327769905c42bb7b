#include "storage/sqlite/inserts.h"

#include <algorithm>

#include "base/later.h"
#include "storage/checks.h"
#include "storage/sqlite/columns.h"
#include "storage/sqlite/errors.h"
#include "storage/sqlite/statements.h"
#include "task/task_key.h"

namespace easyretry::storage::sqlite {
GrowingIds::GrowingIds(std::uint64_t seed, TaskId highest_stored)
    : source_(seed), floor_(task::created_at(highest_stored) + Millis{1}) {}

TaskId GrowingIds::next(TimePoint now, ShardId shard) {
  const std::lock_guard lock{mutex_};
  return source_.next(std::max(now, floor_), shard);
}

Inserts::Inserts(Connection& db, Lookup& lookup, Calls& calls, Sums& sums, GrowingIds& ids, int total_shards)
    : lookup_(lookup),
      calls_(calls),
      sums_(sums),
      ids_(ids),
      total_shards_(total_shards),
      insert_(db.prepare(sql::insert())) {}

InsertReply Inserts::insert(std::span<const NewTask> tasks, TimePoint now) {
  InsertReply reply{.now = now, .tasks = {}};
  reply.tasks.reserve(tasks.size());
  for (const NewTask& task : tasks) reply.tasks.push_back(insert_one(task, now));
  return reply;
}

Inserted Inserts::insert_one(const NewTask& task, TimePoint now) {
  constexpr int kDraws = 100;
  if (const auto there = lookup_.live(task.space, task.key)) return met(*there, task);
  const ShardId shard = task::shard_for(task.business_id, task.key, total_shards_);
  const TimePoint due = task.due_at.value_or(base::later(now, task.delay));
  for (int draw = 0; draw < kDraws; ++draw) {
    const TaskId id = ids_.next(now, shard);
    // Somebody wrote a row with this very id by hand.
    if (!add(task, id, shard, due, now)) continue;
    calls_.add(id, task, now);
    sums_.stored(task.space, task.handler, now);
    return {.id = id, .version = 1, .next_at = due, .created = true};
  }
  throw SqliteError{SQLITE_CORRUPT, "retry_state refuses every new id as taken; the table is damaged"};
}

Inserted Inserts::met(const Inserted& there, const NewTask& task) {
  if (task.on_duplicate == OnDuplicate::reject) throw Refusal{duplicate("sqlite.insert", task.key, there.id)};
  if (task.on_duplicate == OnDuplicate::update_policy) calls_.update_rules(there.id, task.rules);
  return there;
}

bool Inserts::add(const NewTask& task, TaskId id, ShardId shard, TimePoint due, TimePoint now) {
  const bool leased = task.lease > Millis{0};
  insert_.bind(1, number(id))
      .bind(2, to_string(leased ? TaskState::running : TaskState::pending))
      .bind(3, task.space)
      .bind(4, static_cast<std::int64_t>(shard))
      .bind(5, task.handler)
      .bind(6, to_ms(due))
      .bind(7, to_ms(now));
  bind_past(task, leased, now);
  return insert_.run() == 1;
}

// What has happened to it before it is stored: nothing, failed attempts, or one that is about to be made.
void Inserts::bind_past(const NewTask& task, bool leased, TimePoint now) {
  const auto failed_at = task.error.empty() ? std::nullopt : std::optional{to_ms(now)};
  insert_.bind(8, task.attempts + (leased ? 1 : 0))
      .bind_or_null(9, failed_at)
      .bind_or_null(10, task.error)
      .bind_or_null(11, leased ? std::string_view{task.owner} : std::string_view{})
      .bind_or_null(12, leased ? std::optional{to_ms(now)} : std::nullopt)
      .bind(13, leased ? to_ms(base::later(now, task.lease)) : 0);
}

}  // namespace easyretry::storage::sqlite
