#pragma once
// One engine: its parts, wired.
//
//   store ──load──► Loader ──► Schedule (wheel, ready) ──► Claimers ──won──► Workers ──outcome──► Settler ──► store
//                                  ▲                                                                │
//                                  └──────────────────── retries due soon ◄─────────────────────────┘
//   beside them: Renewer (leases, timeouts), Keeper (housekeeping), Intake (tasks submitted by plain SQL), Rebalancer
//   (which shards the Loader reads) and PauseWatch (which handlers are paused)
//
// The Core does nothing by itself: threads.h gives the parts threads, ManualEngine and the simulator step them.
// Destroying it without stopping the parts looks like a crash to the store.

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

#include "engine/attempt.h"
#include "engine/brake_watch.h"
#include "engine/circuit_watch.h"
#include "engine/claimer.h"
#include "engine/context.h"
#include "engine/in_flight.h"
#include "engine/inserter.h"
#include "engine/intake.h"
#include "engine/keeper.h"
#include "engine/loader.h"
#include "engine/local_retries.h"
#include "engine/ownership.h"
#include "engine/pauses.h"
#include "engine/rebalancer.h"
#include "engine/renewer.h"
#include "engine/reporting.h"
#include "engine/schedule.h"
#include "engine/settler.h"
#include "engine/task_spans.h"
#include "engine/workers.h"
#include "storage/task_walk.h"

namespace easyretry::engine {

using MakeWorkers = std::function<std::unique_ptr<Workers>(std::shared_ptr<Context>, std::shared_ptr<Outcomes>)>;

struct CoreOptions {
  EngineOptions engine;
  std::string owner;       // empty: made of host, process and a random part
  std::uint64_t seed = 0;  // 0: from the operating system
};

struct Started {
  TaskId id{};
  RunPtr run;  // null: it was not stored by this call
};

// Thread-safe, except for steps: each part is stepped by one thread at a time.
class Core {
 public:
  Core(std::shared_ptr<storage::Store> store, const Clock& clock, CoreOptions options, const MakeWorkers& workers);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // --- Tasks, of this engine's namespace

  // Stores tasks; those due soon are in memory before this returns. After a lost reply it finds out what happened.
  Result<std::vector<storage::Inserted>> submit(std::span<const task::NewTask> tasks);
  // The same inside the caller's own transaction, which decides whether they are stored.
  Result<std::vector<storage::Inserted>> submit(const Transaction& within, std::span<const task::NewTask> tasks);
  Result<std::optional<task::TaskRecord>> find(TaskId id);
  Result<std::vector<task::TaskRecord>> find(std::span<const TaskId> ids);  // unknown ids are left out
  // By key: the live task, or the ended task that was stored last. Throw std::invalid_argument without a
  // handler or a key.
  Result<std::optional<task::TaskRecord>> find_live(std::string_view handler, std::string_view key);
  Result<std::optional<task::TaskRecord>> find_ended(std::string_view handler, std::string_view key);
  // For callers that wait for the end of a task.
  Waits& waits() { return context_->waits; }
  // The query's namespace is ignored. A page that is not full has `next` only if the search took all of `within`
  // (storage/task_walk.h).
  Result<storage::ListPage> page(TaskQuery query, Millis within);
  // These search for as long as it takes.
  Result<std::vector<task::TaskRecord>> list(TaskQuery query);
  Result<std::int64_t> count(TaskQuery query);
  Result<Counts> counts() { return store_->counts(options().name_space); }
  // False: there is no such live task. A running handler sees its stop token; one that has not begun when this returns
  // will not begin. The owner is notified, by an instance that has the handler, unless `whom` is nobody.
  enum class Tell { owner, nobody };
  Result<bool> cancel(TaskId id, Tell whom = Tell::owner) { return end(id, {.tell = whom == Tell::owner}); }
  Result<std::vector<bool>> cancel(std::span<const TaskId> ids, Tell whom = Tell::owner) {
    return end(ids, {.tell = whom == Tell::owner});
  }
  // The same, with another outcome: done by other means, or given up by a user (decision 40). False also if a callback
  // is due. `as` needs no id; its result is plain JSON, and its callback is left out if there is none. Throws
  // std::invalid_argument if on_success is known here and cannot take the result.
  Result<bool> end(TaskId id, const task::Ending& as);
  Result<std::vector<bool>> end(std::span<const TaskId> ids, const task::Ending& as);
  // Another call has done the work of the pending task with this handler and key, if there is one: it ends as
  // succeeded. A task that is running, or waits for a callback, goes on.
  Result<void> end_as_done(const std::string& handler, const std::string& key);
  // A pending task becomes due now. False: it is running, has ended, or is not stored.
  Result<bool> retry_now(TaskId id);
  Result<std::vector<bool>> retry_now(std::span<const TaskId> ids);
  // A pending task continues with the rules that `edit` makes of its rules; `edit` may be called several times. False:
  // as above, or other instances keep changing it.
  using EditRules = std::function<task::RetryRules(const task::RetryRules&)>;
  Result<bool> revise_rules(TaskId id, const EditRules& edit);
  // Nullopt: there is no such ended task, or its key is live again.
  Result<std::optional<TaskId>> requeue(TaskId id);
  // `as`: the class of the new tasks, instead of that of the ended ones.
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids,
                                                     std::optional<TaskClass> as = std::nullopt);
  // The same with other arguments, a JSON array as submit() makes it. `invalid_argument`: more than max_payload.
  Result<std::optional<TaskId>> requeue_with(TaskId id, std::string arguments,
                                             std::optional<TaskClass> as = std::nullopt);

  // --- Handlers

  // Throws as Handlers do.
  void add_handler(detail::Handler handler);
  void reconfigure(const std::map<std::string, HandlerSettings>& handlers, const EngineOptions& live);
  Handlers& handlers() { return context_->handlers; }
  void add_filter(Filter filter);
  std::shared_ptr<const FilterChain> filters() const { return context_->filters.chain(); }
  // How a row of the inbox becomes a task. Before the first step.
  void convert_inbox_with(storage::Convert convert) { intake_.convert_with(std::move(convert)); }
  // From now on no instance of this namespace claims tasks of this handler: this one stops at once, others within
  // kPausesKnownFor. Running tasks go on; claimed ones that have not begun are handed back. True: it was not paused.
  Result<bool> pause(std::string_view handler, std::string_view why);
  Result<bool> resume(std::string_view handler);  // true: it was paused
  // Whether it is paused, as far as this instance knows.
  bool is_paused(std::string_view handler) const { return context_->pauses.contains(handler); }
  Result<storage::PausedReply> paused();

  // --- Circuits

  std::vector<CircuitInfo> circuits();  // by name, as this instance sees them
  // Null: no handler that is registered here has a circuit of this name.
  std::shared_ptr<Circuit> circuit(const std::string& name);
  // Asks the other instances in the background, and the store for orders, if what is known of it is old.
  void keep_known(Circuit& circuit);
  // For all instances: this one at once, others within kPausesKnownFor. Replaces an earlier order. nullopt: until
  // reset_circuit(), which only an order to be open may have. `invalid_argument`: orders.h refuses it.
  Result<CircuitOrder> order_circuit(std::string_view name, CircuitState state, std::optional<Millis> time,
                                     std::string_view why);
  Result<bool> reset_circuit(std::string_view name);  // true: there was an order
  Result<CircuitOrders> circuit_orders();             // in force, also of circuits that are not known here

  // --- Limits, of "handler pay" or "circuit gateway"

  std::vector<LimitInfo> limits();  // by subject, as this instance sees them
  // For all instances, as with circuits. Replaces an earlier order. `invalid_argument`: orders.h refuses it.
  Result<LimitOrder> order_limit(std::string_view subject, const LimitOptions& limit, std::string_view why);
  Result<bool> reset_limit(std::string_view subject);  // true: there was an order; what is configured stays
  Result<LimitOrders> limit_orders();                  // also of handlers and circuits that are not known here

  // --- Attempts that are not made by the workers: direct calls, remote executors. See attempt.h

  // Stores a task that is leased by this instance from the start. Without a run: a task with this key already exists.
  Result<Started> start(const task::NewTask& task);
  task::Settlement attempt(Run& run) { return engine::attempt(run, *context_); }
  AttemptStart begin_attempt(Run& run) { return engine::begin_attempt(run, *context_); }
  Instant mark_started(Run& run) { return engine::mark_started(run, *context_); }
  void note_attempt(const Run& run, task::Settlement& s) const { engine::note_attempt(run, *context_, s); }
  bool still_ours(Run& run) { return engine::still_ours(run, *context_); }
  task::Settlement end_attempt(Run& run, detail::Reply reply, const std::string& arguments) {
    return engine::end_attempt(run, *context_, std::move(reply), arguments);
  }
  task::Settlement end_attempt(Run& run, Called called) {
    return engine::end_attempt(run, *context_, std::move(called));
  }
  Result<storage::Applied> renew(std::span<const storage::Renewal> renewals);
  // The tasks now belong to a remote worker with leases of this length: this instance neither renews nor settles them
  // any more.
  void let_go(std::span<const RunPtr> runs, Millis lease);
  // The Settler writes it, with the next batch.
  void settle_later(const RunPtr& run, task::Settlement settlement) { outcomes_->put(run, std::move(settlement)); }
  // As Settler::settle_now.
  Result<bool> settle_now(const RunPtr& run, task::Settlement settlement);
  Result<std::vector<bool>> settle_now(std::span<const Settled> settled) { return settler_.settle_now(settled); }
  // Writes the outcome of a started task before this returns. If the store does not answer, the Settler keeps trying;
  // if nothing steps it, the task is dropped, and runs again when its lease has expired.
  void settle_started(const RunPtr& run, task::Settlement settlement);
  void settler_is_stepped(bool is) { settler_is_stepped_ = is; }
  // Hands back the claimed tasks that no worker has begun, and for which `wanted` is true.
  void hand_back_waiting(const std::function<bool(const Run&)>& wanted);
  // Notified by remote executors that have room again.
  Wakeup& claiming() { return context_->claiming; }
  // Remote workers came or left.
  void executors_changed() { rebalancer_.handlers_changed(); }
  // Only inside a catch block.
  CallbackFailure note_callback_failure(const TaskInfo& task) { return engine::note_callback_failure(*context_, task); }
  // For a call that is not stored.
  void log_final_failure(const TaskInfo& call, Outcome outcome, const std::string& error, const std::string& thrown) {
    context_->failures.add(call, outcome, error, thrown);
  }
  void note_callback_abandoned() { Counters::add(context_->counters.callbacks_abandoned); }

  // --- This instance

  const EngineOptions& options() const { return context_->options; }  // as they were at the start
  const LiveOptions& live_options() const { return context_->live; }
  const std::string& owner() const { return context_->owner; }
  const Clock& clock() const { return context_->clock; }
  TimePoint store_now() const { return context_->store_now(); }
  double random() { return context_->random.unit(); }  // in [0, 1)
  const Payloads& payloads() const { return context_->payloads; }
  const Measures& measures() const { return context_->measures; }
  Events& events() { return context_->events; }
  Spans& spans() { return context_->spans; }
  std::string traceparent_of_webhook(const TaskInfo& task) const {
    return engine::traceparent_of_webhook(*context_, task);
  }
  void tell_webhook(const Run& run, const WebhookCalled& called) const { engine::tell_webhook(run, *context_, called); }
  void log(LogLevel level, const std::string& text) const { context_->log(level, text); }
  Stats stats() const;
  std::size_t in_wheel() const { return schedule_.in_wheel(); }
  std::array<std::size_t, kClasses> due_by_class() const { return schedule_.due_by_class(); }
  ClusterView cluster() const { return rebalancer_.view(); }
  storage::Store& store() { return *store_; }
  int total_shards() const { return total_shards_; }

  // From now on tasks run here, and new tasks of other processes wake the Loader if the store can report them. Call
  // stop_listening() before anything stops.
  void listen();
  void stop_listening();
  // Nothing is read or claimed from now on.
  void stop_claiming();
  // Other instances should look for due tasks.
  void announce() { store_->announce(options().name_space); }
  // This instance owns only this from now on; other tasks that were read ahead are forgotten.
  void own(Ownership owned);
  // These shards of all handlers.
  void own(std::vector<ShardId> shards) { own(Ownership{std::move(shards)}); }

  // How long to wait after this many failures in a row.
  Instant::duration pause_after_failures(int failures) {
    return engine::pause_after_failures(failures, context_->random);
  }
  // After the last step: the failures that were counted but not logged.
  void log_left_out_failures() { context_->failures.log_left_out(Instant::max()); }

  // --- The parts, for the code that steps them: Threads, ManualEngine, the simulator

  // Shared by all parts. A remote engine's Leaser is one of them.
  Context& context() { return *context_; }
  Schedule& schedule() { return schedule_; }
  std::array<Claimer, kClaimers>& claimers() { return claimers_; }
  Loader& loader() { return loader_; }
  Settler& settler() { return settler_; }
  Renewer& renewer() { return renewer_; }
  Keeper& keeper() { return keeper_; }
  PauseWatch& pause_watch() { return pause_watch_; }
  CircuitWatch& circuit_watch() { return circuit_watch_; }
  BrakeWatch& brake_watch() { return brake_watch_; }
  Intake& intake() { return intake_; }
  Rebalancer& rebalancer() { return rebalancer_; }
  LocalRetries& local_retries() { return *local_retries_; }
  Workers& workers() { return *workers_; }
  InFlight& in_flight() { return in_flight_; }
  Outcomes& outcomes() { return *outcomes_; }

 private:
  void refuse_what_the_daemon_decides(const std::string& handler, const HandlerOptions& options) const;
  Instant lent_until(Millis lease);
  // Replaces an earlier order with the same key.
  Result<void> store_order(const StoredOrder& order);
  bool lacks_handler(const TaskInfo& info) const;
  bool owns(const Ownership& owned, const std::string& handler, TaskId id) const;
  void stored(std::span<const task::NewTask> tasks, std::span<const storage::Inserted> inserted, Instant began);
  using MakeRevision = std::function<task::Revision(const task::TaskRecord&)>;
  // In this engine's namespace.
  Result<std::map<TaskId, task::TaskRecord>> records_of(std::span<const TaskId> ids);
  bool may_tell(const TaskInfo& task, Outcome outcome) const;
  Result<task::Ending> ending_of(const task::TaskRecord& record, const task::Ending& as) const;
  bool may_be_held_by_others(const TaskInfo& task) const;
  Result<std::vector<bool>> revise(std::span<const TaskId> ids, const MakeRevision& make);
  // Adds to `done`, and returns the ids of tasks that another instance changed between the read and the write.
  Result<std::vector<TaskId>> revise_once(std::span<const TaskId> ids, const MakeRevision& make,
                                          std::set<TaskId>& done);
  // Tasks that were just written, and may be due within the window.
  void offer(std::span<const DueTask> written);
  void offer_revised(std::span<const DueTask> revised);
  // For a due task that perhaps no instance has read.
  void wake_an_instance();
  void pauses_changed();
  void circuit_opened();

  const std::shared_ptr<storage::Store> store_;
  const int total_shards_;
  const std::shared_ptr<Context> context_;
  Inserter inserter_;
  const std::shared_ptr<Outcomes> outcomes_;
  InFlight in_flight_;
  const std::unique_ptr<Workers> workers_;
  std::atomic<bool> runs_here_{false};
  std::atomic<bool> settler_is_stepped_{true};

  Schedule schedule_;
  std::array<Claimer, kClaimers> claimers_;
  Loader loader_;
  Settler settler_;
  Renewer renewer_;
  Keeper keeper_;
  PauseWatch pause_watch_;
  CircuitWatch circuit_watch_;
  BrakeWatch brake_watch_;
  Intake intake_;
  Rebalancer rebalancer_;
  const std::shared_ptr<LocalRetries> local_retries_;
  std::unique_ptr<storage::Subscription> subscription_;  // last: it calls the loader and the intake
};

}  // namespace easyretry::engine
