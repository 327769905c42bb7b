#pragma once
// A store in the memory of this process: the reference for all other stores, and a store for users' tests.
//
// It applies the table of task/transitions.h and nothing else. Safe to call from any thread: one mutex guards
// everything, so every verb is atomic. All tasks are lost with the object.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "storage/counts.h"
#include "storage/history.h"
#include "storage/memory/live_tasks.h"
#include "storage/store.h"
#include "task/task_id.h"

namespace easyretry::storage {

struct MemoryStoreOptions {
  int total_shards = 64;  // 1 to 4,096
  History history = History::all;
  std::optional<std::uint64_t> id_seed{};  // for the same ids in every run; random without it
  bool shared = false;                     // by several engines, which must load each other's tasks
};

class MemoryStore : public Store {
 public:
  // The clock is the store's clock and must outlive it. Throws std::invalid_argument for options out of range.
  MemoryStore(const MemoryStoreOptions& options, const Clock& clock);

  StoreInfo info() const override;
  InsertResult insert(std::span<const NewTask> tasks) override;
  // insert() in two steps, as with a server: ids are drawn by the client and sent with the tasks.
  std::vector<TaskId> draw_ids(std::span<const NewTask> tasks);
  InsertResult insert_as(std::span<const TaskId> ids, std::span<const NewTask> tasks);
  Result<LoadReply> load(const LoadQuery& query) override;
  Result<ClaimReply> claim(const ClaimRequest& request) override;
  Result<Applied> settle(std::span<const Settlement> settlements) override;
  Result<Applied> renew(std::span<const Renewal> renewals) override;
  Result<std::vector<TaskRecord>> find(std::span<const TaskId> ids) override;
  Result<std::vector<TaskRecord>> list(const TaskQuery& query) override;
  Result<std::int64_t> count(const TaskQuery& query) override;
  Result<Counts> counts(std::string_view name_space) override;
  Result<Applied> revise(std::span<const Revision> revisions) override;
  Result<Applied> end(std::span<const Ending> endings) override;
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids, std::optional<TaskClass> as) override;
  Result<std::optional<TaskId>> requeue_with(TaskId id, std::string_view arguments,
                                             std::optional<TaskClass> as) override;
  Result<BeatReply> beat(const Beat& beat) override;
  Result<BeatReply> members(std::string_view name_space) override;
  Result<bool> leave(std::string_view name_space, std::string_view node) override;
  Result<bool> pause(std::string_view name_space, std::string_view handler, std::string_view why) override;
  Result<bool> resume(std::string_view name_space, std::string_view handler) override;
  Result<PausedReply> paused(std::string_view name_space) override;
  Result<KeepReport> keep() override;
  Result<bool> expire(std::span<const Retention> rules) override;

 private:
  const TaskRecord* refused(std::span<const NewTask> tasks) const;
  Inserted insert_one(const NewTask& task, TaskId id, TimePoint now);
  std::optional<TaskRecord> claim_one(const Ticket& ticket, const ClaimRequest& request, TimePoint now);
  template <class Change>
  using Apply = bool (MemoryStore::*)(const Change&, TimePoint now);
  template <class Change>
  Result<Applied> apply_each(std::span<const Change> changes, Apply<Change> apply);
  bool settle_one(const Settlement& settlement, TimePoint now);
  bool renew_one(const Renewal& renewal, TimePoint now);
  bool revise_one(const Revision& revision, TimePoint now);
  bool end_one(const Ending& ending, TimePoint now);
  std::optional<TaskId> requeue_one(TaskId id, std::optional<std::string_view> arguments, std::optional<TaskClass> as,
                                    TimePoint now);
  const TaskRecord* record(TaskId id) const;
  bool retire(TaskId id, bool kept, TimePoint now);
  template <class End>  // a Settlement or an Ending
  void keep_result(TaskId id, const End& end, TimePoint now);
  TaskId draw_id(std::string_view business_id, std::string_view key, TimePoint now);

  // Fixed after construction
  const MemoryStoreOptions options_;
  const Clock& clock_;

  // Guarded by mutex_
  mutable std::mutex mutex_;
  task::TaskIdSource ids_;
  LiveTasks live_;
  std::map<TaskId, TaskRecord> finished_;
  struct KeptResult {
    std::string result{};
    TimePoint until{};
  };
  std::map<TaskId, KeptResult> results_;  // of finished tasks
  struct MemberEntry {
    TimePoint since{};
    TimePoint until{};
    std::string says{};
    std::optional<std::vector<std::string>> handlers{};
  };
  std::vector<Member> living(std::string_view name_space, TimePoint now) const;
  std::map<std::pair<std::string, std::string>, MemberEntry> members_;  // by namespace and instance
  std::map<std::string, std::map<std::string, PausedHandler>> paused_;  // by namespace and handler
  Sums sums_;
};

}  // namespace easyretry::storage
