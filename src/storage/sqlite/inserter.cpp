#include "storage/sqlite/inserter.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "base/later.h"
#include "storage/checks.h"
#include "storage/record_columns.h"
#include "storage/sqlite/statements.h"
#include "task/task_key.h"

namespace easyretry::storage::sqlite {
namespace {

[[noreturn]] void refuse_task(std::string why) {
  throw StoreError{{Errc::invalid_argument, "sqlite.insert", std::move(why)}};
}

sqlite3* checked(sqlite3* theirs, const std::filesystem::path& file) {
  if (theirs == nullptr) refuse_task("sqlite_tx was given no connection");
  const char* name = sqlite3_db_filename(theirs, "main");
  const std::string open = name == nullptr ? "" : name;
  std::error_code ignored;  // a file that cannot be examined is not the same one
  if (open.empty() || !std::filesystem::equivalent(open, file, ignored)) {
    refuse_task("the connection has " + (open.empty() ? "no file" : open) + " open, the tasks are in " + file.string() +
                "; a transaction spans one file, so keep your tables there too, or use submit without a transaction");
  }
  if (sqlite3_get_autocommit(theirs) != 0) {
    refuse_task("the connection is not inside a transaction; run BEGIN IMMEDIATE on it first");
  }
  return theirs;
}

// At the end of the scope, undoes what was done since its construction, and only that, unless keep() was called.
class Savepoint {
 public:
  explicit Savepoint(Connection& db) : db_(db) { db_.run("SAVEPOINT easyretry_insert"); }
  ~Savepoint() {
    if (kept_) return;
    try {
      db_.run("ROLLBACK TO easyretry_insert; RELEASE easyretry_insert");
    } catch (const SqliteError&) {
      // The failure that led here has ended the whole transaction, and the caller is told of it.
    }
  }
  Savepoint(const Savepoint&) = delete;
  Savepoint& operator=(const Savepoint&) = delete;
  void keep() {
    db_.run("RELEASE easyretry_insert");
    kept_ = true;
  }

 private:
  Connection& db_;
  bool kept_ = false;
};

}  // namespace

GrowingIds::GrowingIds(std::uint64_t seed, TaskId highest_stored)
    : source_(seed), floor_(task::created_at(highest_stored) + Millis{1}) {}

TaskId GrowingIds::next(TimePoint now, ShardId shard) {
  const std::lock_guard lock{mutex_};
  return source_.next(std::max(now, floor_), shard);
}

CountTotals::CountTotals(Connection& db) : add_(db.prepare(statements::add_to_count)) {}

void CountTotals::add(const Sums& sums) {
  for (const auto& [key, tasks] : sums.rows()) {
    add_.bind(1, to_ms(key.day)).bind(2, key.name_space).bind(3, key.handler).bind(4, key.kind).bind(5, tasks);
    add_.run();
  }
}

Inserter::Inserter(Connection& db, Calls& calls, Sums& sums, GrowingIds& ids, int total_shards)
    : calls_(calls), sums_(sums), ids_(ids), total_shards_(total_shards), insert_(db.prepare(statements::insert)) {}

InsertReply Inserter::insert(std::span<const NewTask> tasks, TimePoint now) {
  InsertReply reply{.now = now, .tasks = {}};
  reply.tasks.reserve(tasks.size());
  for (const NewTask& task : tasks) reply.tasks.push_back(insert_one(task, now));
  return reply;
}

Inserted Inserter::insert_one(const NewTask& task, TimePoint now) {
  constexpr int kDraws = 100;
  if (const auto live = calls_.live(task.name_space, task.key)) return duplicate_of(*live, task);
  const ShardId shard = task::shard_for(task.business_id, task.key, total_shards_);
  const TimePoint due = task.due_at.value_or(base::later(now, task.delay));
  for (int draw = 0; draw < kDraws; ++draw) {
    const TaskId id = ids_.next(now, shard);
    if (!add(task, id, shard, due, now)) continue;  // a row with this id was added manually
    calls_.add(id, task, now);
    sums_.stored(task.name_space, task.handler, now);
    return {.id = id, .version = 1, .next_at = due, .created = true};
  }
  throw SqliteError{SQLITE_CORRUPT, "retry_state refuses every new id as taken; the table is damaged"};
}

Inserted Inserter::duplicate_of(const Inserted& live, const NewTask& task) {
  if (task.on_duplicate == OnDuplicate::reject) throw StoreError{duplicate("sqlite.insert", task.key, live.id)};
  if (task.on_duplicate == OnDuplicate::update_policy) calls_.update_rules(live.id, task.rules);
  return live;
}

bool Inserter::add(const NewTask& task, TaskId id, ShardId shard, TimePoint due, TimePoint now) {
  const bool leased = task.lease > Millis{0};
  insert_.bind(1, number(id))
      .bind(2, task::stored_name(leased ? TaskState::running : TaskState::pending))
      .bind(3, task.name_space)
      .bind(4, static_cast<std::int64_t>(shard))
      .bind(5, task.handler)
      .bind(6, to_ms(due))
      .bind(7, to_ms(now))
      .bind_or_null(14, class_or_null(task.task_class));
  bind_past(task, leased, now);
  return insert_.run() == 1;
}

// The past of a task before it is stored: nothing, failed attempts, or an attempt that is about to be made.
void Inserter::bind_past(const NewTask& task, bool leased, TimePoint now) {
  const auto failed_at = task.error.empty() ? std::nullopt : std::optional{to_ms(now)};
  insert_.bind(8, task.attempts + (leased ? 1 : 0))
      .bind_or_null(9, failed_at)
      .bind_or_null(10, task.error)
      .bind_or_null(11, leased ? std::string_view{task.owner} : std::string_view{})
      .bind_or_null(12, leased ? std::optional{to_ms(now)} : std::nullopt)
      .bind(13, leased ? to_ms(base::later(now, task.lease)) : 0);
}

InsertReply insert_within(sqlite3* theirs, const std::filesystem::path& file, std::span<const NewTask> tasks,
                          GrowingIds& ids, int total_shards, TimePoint now) {
  Connection db = Connection::borrowed(checked(theirs, file));
  sqlite3_wal_autocheckpoint(theirs, 0);
  sqlite3_db_config(theirs, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  Savepoint savepoint{db};
  Calls calls{db};
  Sums sums;
  InsertReply reply = Inserter{db, calls, sums, ids, total_shards}.insert(tasks, now);
  CountTotals{db}.add(sums);
  savepoint.keep();
  return reply;
}

}  // namespace easyretry::storage::sqlite
