#pragma once
// Storing tasks: insert and requeue.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/redis/insert_job.h"
#include "storage/redis/parts.h"
#include "storage/redis/task_ids.h"
#include "storage/store.h"

namespace easyretry::storage::redis {

class Inserting {
 public:
  Inserting(Parts& parts, int total_shards) : parts_(parts), total_shards_(total_shards) {}

  // The part that all of them are in, if it is one.
  std::optional<std::size_t> only_part(std::span<const NewTask> tasks) const;
  // `begun` is set when some of many are stored. Throws Refusal for a live key that must not be; for whatever it
  // throws, `ids` are those of InsertFailure.
  InsertReply insert(std::span<const NewTask* const> tasks, bool& begun, std::vector<TaskId>& ids);
  // Of tasks that have ended, which are marked; nullopt where the key is live, or the task was marked before.
  std::vector<std::optional<TaskId>> start_again(std::span<const TaskRecord> ended, bool& begun);

 private:
  using Entries = std::vector<InsertEntry>;
  using Jobs = std::vector<std::unique_ptr<InsertJob>>;

  std::size_t part_of(const task::KeyDigest& digest) const;
  InsertEntry entry_of(const NewTask& task);
  InsertEntry entry_of(const TaskRecord& next);
  void name(InsertEntry& entry, const TaskRecord& record, bool with_rules);
  void draw_id(InsertEntry& entry);
  void refuse_live(const std::vector<Entries>& of_parts);
  InsertReply store_all(Entries entries, bool& begun, std::vector<TaskId>& ids);
  static void note_ids(const Jobs& jobs, std::vector<TaskId>& ids);
  Jobs jobs_for(std::vector<Entries> of_parts);

  Parts& parts_;
  const int total_shards_;
  TaskIds ids_;
};

}  // namespace easyretry::storage::redis
