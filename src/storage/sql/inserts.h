#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/sql/live_rows.h"
#include "storage/sql/server_options.h"
#include "storage/sql/transactions.h"
#include "task/task_id.h"

namespace easyretry::storage::sql {

// The write side of `insert` and of `requeue`. Safe to use from any thread, each with its own LiveRows.
class Inserts {
 public:
  Inserts(std::string kind, int total_shards);

  // As long as there is a refusal, nothing is stored.
  void allow_unless(std::optional<std::string> refusal);

  // Throws Refusal, also for a task with OnDuplicate::reject whose key is live.
  std::vector<Inserted> insert(LiveRows& rows, const std::string& history, std::span<const NewTask* const> tasks,
                               TimePoint now);
  // Returns nothing if the key is live.
  std::optional<TaskId> start_again(LiveRows& rows, const std::string& history, const TaskRecord& finished,
                                    TimePoint now);

 private:
  class Batch;
  TaskId draw(const TaskInfo& info, TimePoint now);

  const std::string kind_;
  const int total_shards_;
  std::mutex mutex_;
  task::TaskIdSource ids_;              // guarded by mutex_
  std::optional<std::string> refusal_;  // guarded by mutex_
};

// The number of shards is changed while no instance runs, but an operator may have forgotten one. Such an instance
// stores nothing more. Safe to call from any thread.
class ShardWatch {
 public:
  ShardWatch(const ServerOptions& options, Inserts& inserts) : options_(options), inserts_(inserts) {}
  // Reads the number if the last read was long enough ago.
  void look(Session& session);
  // Takes the number that was read from retry_meta. Returns why this instance must stop, if it must.
  std::optional<std::string> observe(const std::optional<std::string>& total_shards);

 private:
  using Steady = std::chrono::steady_clock;

  const ServerOptions& options_;
  Inserts& inserts_;
  std::atomic<Steady::time_point> looked_{Steady::now()};
};

// Inserts whole batches, each in a transaction of ours or of the application. Safe to use from any thread.
class InsertTransactions {
 public:
  InsertTransactions(const ServerOptions& options, Writes& writes, Tables& tables, ShardWatch& shards, Inserts& inserts)
      : where_(options.kind + ".insert"),
        history_(options.history),
        writes_(writes),
        tables_(tables),
        shards_(shards),
        inserts_(inserts) {}

  InsertResult run(std::span<const NewTask* const> tasks, Locks locks);
  // Throws Refusal, MissingTable, LayoutChanged and ServerError.
  InsertReply inside(Session& session, std::span<const NewTask* const> tasks, TimePoint now);

 private:
  const std::string where_;
  const History history_;
  Writes& writes_;
  Tables& tables_;
  ShardWatch& shards_;
  Inserts& inserts_;
};

// `requeue`: a task is started again and marked in history, or neither.
class Requeues {
 public:
  Requeues(Session& session, Tables& tables, Inserts& inserts, TimePoint now)
      : session_(session), tables_(tables), inserts_(inserts), now_(now) {}

  // With these arguments and this class, or with those of the ended task.
  std::vector<std::optional<TaskId>> start_again(std::span<const TaskId> ids, std::optional<std::string_view> arguments,
                                                 std::optional<TaskClass> as);

 private:
  struct Ended {
    TaskRecord record;
    std::string table;
  };
  std::map<TaskId, Ended> lock(std::span<const TaskId> ids);

  Session& session_;
  Tables& tables_;
  Inserts& inserts_;
  const TimePoint now_;
};

}  // namespace easyretry::storage::sql
