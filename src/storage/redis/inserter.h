#pragma once
// Stores tasks: insert and requeue, with lua/insert.lua.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/redis/parts.h"
#include "storage/redis/records.h"
#include "storage/store.h"

namespace easyretry::storage::redis {

// A task to store.
struct InsertEntry {
  std::size_t place = 0;  // in the batch
  bool first = true;      // of its key
  std::string name_space;
  std::string key;
  task::KeyDigest digest{};
  ShardId shard{};
  TaskId id{};
  NameNumbers names;
  unsigned flags = 0;  // layout::InsertFlag
  std::optional<TimePoint> due_at;
  Millis delay{0};
  TimePoint next_at{};
  std::string body;
  std::string meta{};  // with has_template
  TaskId former{};     // with again: the ended task to requeue

  // Sets the times, by our estimate of the server's clock.
  void make_at(TimePoint now);
  bool has(unsigned flag) const { return (flags & flag) != 0; }
  bool rejects() const { return has(layout::InsertFlag::reject); }
  std::size_t bytes() const { return body.size() + meta.size(); }
};

class InsertJob;

class Inserter {
 public:
  Inserter(Parts& parts, int total_shards) : parts_(parts), total_shards_(total_shards) {}

  // The part of all these tasks, if it is the same.
  std::optional<std::size_t> only_part(std::span<const NewTask> tasks) const;
  // Sets `begun` if some of several tasks are stored. Throws Refusal for a live key that is not allowed; whenever it
  // throws, `ids` are those for InsertFailure.
  InsertReply insert(std::span<const NewTask* const> tasks, bool& begun, std::vector<TaskId>& ids);
  // Requeues ended tasks, and marks them; nullopt if the key is live, or the task was marked before.
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
