#include "storage/sqlite/inserts.h"

#include <algorithm>

#include "base/later.h"
#include "storage/sqlite/columns.h"
#include "storage/sqlite/statements.h"
#include "task/task_key.h"

namespace easyretry::storage::sqlite {
namespace {

std::optional<std::int64_t> ms_or_null(const std::optional<TimePoint>& time) {
  return time ? std::optional{to_ms(*time)} : std::nullopt;
}

}  // namespace

GrowingIds::GrowingIds(std::uint64_t seed, TaskId highest_stored)
    : source_(seed), floor_(task::created_at(highest_stored) + Millis{1}) {}

TaskId GrowingIds::next(TimePoint now, ShardId shard) {
  return source_.next(std::max(now, floor_), shard);
}

Inserts::Inserts(Connection& db, Lookup& lookup, GrowingIds& ids, int total_shards)
    : lookup_(lookup), ids_(ids), total_shards_(total_shards), insert_(db.prepare(sql::insert())) {}

InsertReply Inserts::insert(std::span<const NewTask> tasks, TimePoint now) {
  InsertReply reply{.now = now, .tasks = {}};
  reply.tasks.reserve(tasks.size());
  for (const NewTask& task : tasks) reply.tasks.push_back(insert_one(task, now));
  return reply;
}

Inserted Inserts::insert_one(const NewTask& task, TimePoint now) {
  constexpr int kDraws = 100;
  if (const auto there = lookup_.live(task.space, task.key)) return *there;
  const ShardId shard = task::shard_for(task.business_id, task.key, total_shards_);
  const TimePoint due = task.due_at.value_or(base::later(now, task.delay));
  for (int draw = 0; draw < kDraws; ++draw) {
    const TaskId id = ids_.next(now, shard);
    // Somebody wrote a row with this very id by hand.
    if (!add(task, id, shard, due, now)) continue;
    lookup_.add(id, Lookup::entry_for(task.key, task.business_id));
    return {.id = id, .version = 1, .next_at = due, .created = true};
  }
  throw SqliteError{SQLITE_CORRUPT, "retry_task refuses every new id as taken; the table is damaged"};
}

bool Inserts::add(const NewTask& task, TaskId id, ShardId shard, TimePoint due, TimePoint now) {
  return insert_.bind(1, static_cast<std::int64_t>(id))
             .bind(2, task.space)
             .bind(3, task.key)
             .bind(4, static_cast<std::int64_t>(shard))
             .bind(5, task.handler)
             .bind(6, to_ms(due))
             .bind(7, to_ms(now))
             .bind_or_null(8, task.business_type)
             .bind_or_null(9, task.business_id)
             .bind(10, task.rules.max_attempts)
             .bind_or_null(11, ms_or_null(task.rules.deadline))
             .bind(12, task.rules.max_duration.count())
             .bind_or_null(13, task.rules.backoff)
             .bind(14, task.payload_version)
             .bind(15, task.payload)
             .run() == 1;
}

}  // namespace easyretry::storage::sqlite
