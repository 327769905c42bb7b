#include "storage/sqlite/inserts.h"

#include <algorithm>

#include "base/later.h"
#include "storage/insert_checks.h"
#include "storage/sqlite/columns.h"
#include "storage/sqlite/errors.h"
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
  const std::lock_guard lock{mutex_};
  return source_.next(std::max(now, floor_), shard);
}

Inserts::Inserts(Connection& db, Lookup& lookup, GrowingIds& ids, int total_shards)
    : lookup_(lookup),
      ids_(ids),
      total_shards_(total_shards),
      insert_(db.prepare(sql::insert())),
      update_rules_(db.prepare(sql::update_rules())) {}

InsertReply Inserts::insert(std::span<const NewTask> tasks, TimePoint now) {
  InsertReply reply{.now = now, .tasks = {}};
  reply.tasks.reserve(tasks.size());
  for (const NewTask& task : tasks) reply.tasks.push_back(insert_one(task, now));
  return reply;
}

Inserted Inserts::insert_one(const NewTask& task, TimePoint now) {
  constexpr int kDraws = 100;
  if (const auto there = lookup_.live(task.space, task.key)) return met(*there, task, now);
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

Inserted Inserts::met(const Inserted& there, const NewTask& task, TimePoint now) {
  if (task.on_duplicate == OnDuplicate::reject) throw Refusal{duplicate("sqlite.insert", task.key, there.id)};
  if (task.on_duplicate == OnDuplicate::update_policy) {
    update_rules_.bind(1, static_cast<std::int64_t>(there.id))
        .bind(2, to_ms(now))
        .bind(3, task.rules.max_attempts)
        .bind_or_null(4, ms_or_null(task.rules.deadline))
        .bind(5, task.rules.max_duration.count())
        .bind_or_null(6, task.rules.backoff)
        .run();
  }
  return there;
}

bool Inserts::add(const NewTask& task, TaskId id, ShardId shard, TimePoint due, TimePoint now) {
  const std::string tags = tags_text(task.tags);
  bind_past(task, now);
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
             .bind_or_null(16, tags)
             .bind_or_null(17, task.traceparent)
             .run() == 1;
}

// What has happened to it before it is stored: nothing, a failed attempt, or a first one that is about to be made.
void Inserts::bind_past(const NewTask& task, TimePoint now) {
  const bool leased = task.lease > Millis{0};
  const auto failed_at = task.error.empty() ? std::nullopt : std::optional{to_ms(now)};
  insert_.bind(18, to_string(leased ? TaskState::running : TaskState::pending))
      .bind(19, leased ? 1 : task.attempts)
      .bind_or_null(20, failed_at)
      .bind_or_null(21, task.error)
      .bind_or_null(22, leased ? std::string_view{task.owner} : std::string_view{})
      .bind_or_null(23, leased ? std::optional{to_ms(now)} : std::nullopt)
      .bind(24, leased ? to_ms(base::later(now, task.lease)) : 0);
}

}  // namespace easyretry::storage::sqlite
