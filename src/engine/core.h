#pragma once
// One engine: its parts, wired.
//
//   store ──load──► Loader ──► Schedule (wheel, ready) ──► Claimers ──won──► Workers ──outcome──► Settler ──► store
//                                  ▲                                                                │
//                                  └──────────────────── retries due soon ◄─────────────────────────┘
//   beside them: Renewer (leases, timeouts), Keeper (housekeeping), Intake (what plain SQL asks for), Rebalancer (which
//   shards the Loader reads) and PauseWatch (which handlers nobody may claim tasks of)
//
// The Core does nothing by itself: threads.h gives the parts threads, ManualCore and the simulator step them.
// Destroying it without stop() is what a crash looks like to the store.

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <easyretry/stats.h>

#include "engine/claimer.h"
#include "engine/context.h"
#include "engine/holdings.h"
#include "engine/inserting.h"
#include "engine/intake.h"
#include "engine/keeper.h"
#include "engine/loader.h"
#include "engine/local_retries.h"
#include "engine/outcomes.h"
#include "engine/ownership.h"
#include "engine/pause_watch.h"
#include "engine/rebalancer.h"
#include "engine/renewer.h"
#include "engine/schedule.h"
#include "engine/settler.h"
#include "engine/workers.h"

namespace easyretry::engine {

using MakeWorkers = std::function<std::unique_ptr<Workers>(std::shared_ptr<Context>, std::shared_ptr<Outcomes>)>;

struct CoreOptions {
  EngineOptions engine;
  std::string owner;       // empty: made up from host, process and a random part
  std::uint64_t seed = 0;  // 0: from the operating system
};

struct Settled {
  RunPtr run;
  task::Settlement settlement;
};

struct Started {
  TaskId id{};
  RunPtr run;  // null: someone else's
};

class Core {
 public:
  Core(std::shared_ptr<storage::Store> store, const Clock& clock, CoreOptions options, const MakeWorkers& workers);

  ~Core() {
    context_->handlers.on_add({});
    local->close();
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // Stores tasks; those due soon are in memory before this returns. A lost reply is looked into, not guessed.
  Result<std::vector<storage::Inserted>> submit(std::span<const task::NewTask> tasks);
  Result<std::optional<task::TaskRecord>> find(TaskId id);
  // In this engine's namespace, whatever the query says of it.
  Result<std::vector<task::TaskRecord>> list(TaskQuery query);
  Result<std::int64_t> count(TaskQuery query);
  Result<Counts> counts() { return store_->counts(context_->options.space); }
  // As submit, inside the caller's own transaction: whether it will be stored is the caller's to say.
  Result<std::vector<storage::Inserted>> submit(const Transaction& within, std::span<const task::NewTask> tasks);
  // Stores a task that is leased by this instance from the start. Null: a task with this key was there.
  Result<Started> start(const task::NewTask& task);
  // Writes what a started task came to before this returns. If the store does not answer, the Settler goes on trying;
  // where nobody steps it, the task is let go, and run again when its lease has ended.
  void settle_started(const RunPtr& run, task::Settlement settlement);
  void settler_is_stepped(bool is) { settler_is_stepped_ = is; }
  // Claimed for somebody who answers for it himself: this instance neither renews nor settles it any more.
  void let_go(std::span<const RunPtr> runs) { holdings_.remove(runs); }
  // Writes what a run came to before this returns. False: the task has moved on, and nothing was changed.
  Result<bool> settle_now(const RunPtr& run, task::Settlement settlement);
  // The same for many at one go. `in_doubt`: a part of the store did not answer; what it had is safe to be sent again.
  Result<std::vector<bool>> settle_now(std::vector<Settled> settled);
  // False: there is no such live task. A running handler sees its stop token; one that has not begun when this returns
  // will not. The owner is told, by whichever instance knows how, unless none is to be told.
  enum class Tell { owner, nobody };
  Result<bool> cancel(TaskId id, Tell whom = Tell::owner);
  Result<std::vector<bool>> cancel(std::span<const TaskId> ids, Tell whom = Tell::owner);
  // A call made elsewhere has done the work of a task of this handler and key that waits, if there is one: it ends as
  // succeeded. A task that is held, or waits for a callback, goes on.
  Result<void> end_as_done(const std::string& handler, const std::string& key);
  // A task that waits becomes due now. False: it is held, has ended, is not there or not stored.
  Result<bool> retry_now(TaskId id);
  Result<std::vector<bool>> retry_now(std::span<const TaskId> ids);
  // A task that waits goes on by the rules that `edit` makes of its own; `edit` may be called several times. False: as
  // above, or others keep changing it.
  using EditRules = std::function<task::RetryRules(const task::RetryRules&)>;
  Result<bool> revise_rules(TaskId id, const EditRules& edit);
  // From now on nobody in this namespace claims tasks of this handler; here at once, elsewhere within kPausesKnownFor.
  // What runs is left alone; what is claimed and has not begun is handed back. True: it was not paused.
  Result<bool> pause(std::string_view handler, std::string_view why);
  Result<bool> resume(std::string_view handler);  // true: it was paused
  Result<storage::PausedReply> paused() { return store_->paused(context_->options.space); }
  // Nullopt: there is no such ended task, or its key is live again.
  Result<std::optional<TaskId>> requeue(TaskId id);
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids);
  Stats stats() const;

  // From now on tasks run here, and those of other processes wake the Loader where the store can tell of them. To be
  // ended by stop_listening() before anything stops.
  void listen();
  void stop_listening();
  // There is something that others should do.
  void announce() { store_->announce(context_->options.space); }

  // Claimed tasks that no worker has begun with, and for which `wanted` holds.
  void hand_back_waiting(const std::function<bool(const Run&)>& wanted);

  // Only this is looked after from now on; what was read ahead of anything else is forgotten.
  void own(Ownership owned);
  // These shards of all handlers.
  void own(std::vector<ShardId> shards) { own(Ownership{std::move(shards)}); }

  Context& context() { return *context_; }
  storage::Store& store() { return *store_; }
  int total_shards() const { return total_shards_; }

 private:
  bool lacks_handler(const TaskInfo& info) const;
  bool owns(const Ownership& owned, const std::string& handler, TaskId id) const;
  void stored(std::span<const task::NewTask> tasks, std::span<const storage::Inserted> inserted);
  using MakeRevision = std::function<task::Revision(const task::TaskRecord&)>;
  // In this engine's namespace.
  Result<std::map<TaskId, TaskInfo>> infos_of(std::span<const TaskId> ids);
  bool may_tell_of_failures(const TaskInfo& task) const;
  bool may_be_held_by_others(const TaskInfo& task) const;
  Result<std::vector<bool>> revise(std::span<const TaskId> ids, const MakeRevision& make);
  // Adds to `done`, and gives those that somebody else changed between the look and the change.
  Result<std::vector<TaskId>> revise_once(std::span<const TaskId> ids, const MakeRevision& make,
                                          std::set<TaskId>& done);
  // A task that was just written, and may be due within the window.
  struct Soon {
    TaskId id{};
    std::int64_t version = 0;
    const std::string* handler = nullptr;
    TimePoint due{};
    std::uint8_t suspicion = 0;
  };
  void offer_soon(std::span<const Soon> tasks);
  void offer_revised(std::span<const Soon> revised);
  // Something that is due may have been read by nobody.
  void hurry_somebody();
  void pauses_changed();

  const std::shared_ptr<storage::Store> store_;
  const int total_shards_;
  const std::shared_ptr<Context> context_;
  Inserting inserting_;
  const std::shared_ptr<Outcomes> outcomes_;
  Holdings holdings_;
  const std::unique_ptr<Workers> workers_;
  std::atomic<bool> runs_here_{false};
  std::atomic<bool> settler_is_stepped_{true};

 public:
  Schedule schedule;
  std::array<Claimer, kClaimers> claimers;
  Loader loader;
  Settler settler;
  Renewer renewer;
  Keeper keeper;
  PauseWatch pause_watch;
  Intake intake;
  Rebalancer rebalancer;
  const std::shared_ptr<LocalRetries> local;

 private:
  std::unique_ptr<storage::Listening> listening_;  // last: it calls the loader and the intake

 public:
  Workers& workers() { return *workers_; }
  Holdings& holdings() { return holdings_; }
  Outcomes& outcomes() { return *outcomes_; }
};

}  // namespace easyretry::engine
