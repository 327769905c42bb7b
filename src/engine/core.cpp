#include "engine/core.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "cluster/membership.h"
#include "cluster/open_membership.h"
#include "engine/task_spans.h"
#include "task/task_id.h"
#include "task/transitions.h"

namespace easyretry::engine {
namespace {

constexpr Millis kNoHurry = std::chrono::hours{24 * 365};
constexpr std::size_t kCountedAtOnce = 1000;

std::shared_ptr<Context> make_context(storage::Store& store, const Clock& clock, CoreOptions options) {
  const std::uint64_t seed = options.seed != 0 ? options.seed : base::random_seed();
  std::string owner = options.owner.empty() ? cluster::make_node() : std::move(options.owner);
  return std::make_shared<Context>(store, clock, std::move(options.engine), std::move(owner), seed);
}

std::unique_ptr<cluster::Membership> make_membership(Context& context) {
  return cluster::open_membership(
      cluster::parse_membership(context.options.membership), context.store,
      {context.options.name_space, context.owner, context.options.lease, context.options.log});
}

TaskQuery query_of(std::string_view handler, std::string_view key) {
  if (handler.empty() || key.empty()) {
    throw std::invalid_argument("a task is found by its handler and its key; both must be given");
  }
  TaskQuery query;
  query.handler = handler;
  query.key = key;
  return query;
}

}  // namespace

Core::Core(std::shared_ptr<storage::Store> store, const Clock& clock, CoreOptions options, const MakeWorkers& workers)
    : store_(std::move(store)),
      total_shards_(store_->info().total_shards),
      context_(make_context(*store_, clock, std::move(options))),
      inserter_(*context_),
      outcomes_(std::make_shared<Outcomes>(context_->live.batch.load())),
      workers_(workers(context_, outcomes_)),
      schedule_(*context_, in_flight_, *workers_),
      claimers_{Claimer{0, *context_, schedule_, in_flight_, *workers_},
                Claimer{1, *context_, schedule_, in_flight_, *workers_}},
      loader_(*context_, schedule_, store_->info(), [this] { intake_.look_soon(); }),
      settler_(*context_, *outcomes_, in_flight_, schedule_, *workers_),
      renewer_(*context_, in_flight_),
      keeper_(*context_),
      pause_watch_(*context_, schedule_, [this] { pauses_changed(); }),
      circuit_watch_(*context_, [this] { circuit_opened(); }),
      brake_watch_(*context_),
      intake_(*context_, store_->info(),
              [this](auto tasks, auto inserted) {
                stored(tasks, inserted, context_->clock.steady());
                loader_.something_came();
              }),
      rebalancer_(*context_, make_membership(*context_), total_shards_,
                  [this](Ownership owned) { own(std::move(owned)); }),
      local_retries_(std::make_shared<LocalRetries>(*context_, in_flight_, *workers_)) {
  context_->handlers.on_add([this] { rebalancer_.handlers_changed(); });
  context_->waits.find_with([this](std::span<const TaskId> ids) { return find(ids); });
}

Core::~Core() {
  context_->handlers.on_add({});
  local_retries_->close();
}

Result<std::vector<storage::Inserted>> Core::submit(std::span<const task::NewTask> tasks) {
  const Instant began = context_->clock.steady();
  auto inserted = inserter_.insert(tasks);
  if (inserted) stored(tasks, *inserted, began);
  return inserted;
}

void Core::stored(std::span<const task::NewTask> tasks, std::span<const storage::Inserted> inserted, Instant began) {
  const auto table = context_->handlers.snapshot();
  std::vector<DueTask> free;
  free.reserve(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto& [id, version, next_at, created] = inserted[i];
    if (!created) continue;
    report_stored(*context_, tasks[i], id, next_at);
    if (context_->spans.heard()) tell_submit(*context_, tasks[i], id, began);
    if (tasks[i].lease > Millis{0}) continue;
    free.push_back(
        {{id, version}, next_at, table->number_of(tasks[i].handler), 0, tasks[i].task_class, tasks[i].attempts > 0});
  }
  offer(free);
}

Result<std::vector<storage::Inserted>> Core::submit(const Transaction& within, std::span<const task::NewTask> tasks) {
  const Instant began = context_->clock.steady();
  auto reply = store_->insert_within(within, tasks);
  if (!reply) return tl::make_unexpected(reply.error());
  for (std::size_t i = 0; context_->spans.heard() && i < tasks.size(); ++i) {
    if (reply->tasks[i].created) tell_submit(*context_, tasks[i], reply->tasks[i].id, began);
  }
  loader_.expect_more();
  return std::move(reply->tasks);
}

Result<Started> Core::start(const task::NewTask& task) {
  const Instant sent = context_->clock.steady();
  const auto inserted = submit({&task, 1});
  if (!inserted) return tl::make_unexpected(inserted.error());
  const storage::Inserted& stored = inserted->front();
  if (!stored.created) return Started{stored.id, nullptr};
  const auto table = context_->handlers.snapshot();
  const HandlerNo no = table->by_name.at(task.handler);
  task::TaskRecord record = task::new_record(task, stored.id, context_->store_now());
  context_->spans.mark_attempt(record.info);
  auto run = std::make_shared<Run>(std::move(record), table->by_number[no], no, trust(sent, task.lease));
  in_flight_.add({&run, 1});
  return Started{stored.id, std::move(run)};
}

void Core::settle_started(const RunPtr& run, task::Settlement settlement) {
  if (settle_now(run, settlement)) return;
  if (settler_is_stepped_) return outcomes_->put(run, std::move(settlement));
  context_->log(LogLevel::warning, "the outcome of task " + to_string(settlement.ticket.id) +
                                       " could not be written; it will run again when its lease expires");
  in_flight_.remove({&run, 1});
}

Result<bool> Core::settle_now(const RunPtr& run, task::Settlement settlement) {
  const Settled one{run, std::move(settlement)};
  return settle_now({&one, 1}).map([](const std::vector<bool>& applied) { return applied.front(); });
}

Result<storage::Applied> Core::renew(std::span<const storage::Renewal> renewals) {
  auto reply = context_->ask(StoreVerb::renew, [&](storage::Store& store) { return store.renew(renewals); });
  for (std::size_t i = 0; reply && i < renewals.size(); ++i) {
    if (reply->applied[i]) in_flight_.prolong(renewals[i].ticket, lent_until(renewals[i].lease));
  }
  return reply;
}

void Core::let_go(std::span<const RunPtr> runs, Millis lease) {
  in_flight_.lend(runs, lent_until(lease));
}

// With a margin for a slow reply. Seats are announced for as long.
Instant Core::lent_until(Millis lease) {
  const Instant until = context_->clock.steady() + lease + lease / 10;
  Instant known = context_->lent_until;
  while (known < until && !context_->lent_until.compare_exchange_weak(known, until)) {
  }
  return until;
}

void Core::offer(std::span<const DueTask> written) {
  const auto table = context_->handlers.snapshot();
  const TimePoint horizon = context_->store_now() + context_->live.window.load();
  const auto owned = loader_.owned();
  std::vector<DueTask> ours;
  ours.reserve(written.size());
  bool for_others = false;
  for (const DueTask& task : written) {
    if (task.due > horizon) continue;
    if (task.handler == kNoHandler || !owns(*owned, table->by_number[task.handler]->handler.name, task.id)) {
      for_others = true;
      continue;
    }
    ours.push_back(task);
  }
  for_others |= !ours.empty() && (!runs_here_ || ours.size() > schedule_.room());
  schedule_.offer(ours);
  if (for_others) announce();
}

void Core::wake_an_instance() {
  loader_.hurry();
  if (!runs_here_) announce();
}

Result<std::optional<task::TaskRecord>> Core::find(TaskId id) {
  auto found = find({&id, 1});
  if (!found) return tl::make_unexpected(found.error());
  if (found->empty()) return std::nullopt;
  return std::move(found->front());
}

Result<std::vector<task::TaskRecord>> Core::find(std::span<const TaskId> ids) {
  std::vector<task::TaskRecord> local;
  std::vector<TaskId> stored;
  for (const TaskId id : ids) {
    if (!LocalRetries::is_local(id)) {
      stored.push_back(id);
    } else if (auto record = local_retries_->find(id)) {
      local.push_back(*std::move(record));
    }
  }
  if (stored.empty()) return local;
  auto found = store_->find(stored);
  if (!found) return found;
  std::erase_if(*found,
                [&](const task::TaskRecord& record) { return record.info.name_space != context_->options.name_space; });
  for (task::TaskRecord& record : *found) record.info.no_handler = lacks_handler(record.info);
  std::ranges::move(local, std::back_inserter(*found));
  return found;
}

Result<std::optional<task::TaskRecord>> Core::find_live(std::string_view handler, std::string_view key) {
  TaskQuery query = query_of(handler, key);
  query.limit = 1;
  auto found = list(query);
  if (!found) return tl::make_unexpected(found.error());
  if (found->empty()) return std::nullopt;
  return std::move(found->front());
}

// The newest one, which has the greatest id.
Result<std::optional<task::TaskRecord>> Core::find_ended(std::string_view handler, std::string_view key) {
  TaskQuery query = query_of(handler, key);
  query.finished = true;
  query.requeued = true;
  query.order = ListOrder::newest_first;
  query.limit = 1;
  const auto newest = list(query);
  if (!newest) return tl::make_unexpected(newest.error());
  if (newest->empty()) return std::nullopt;
  return find(newest->front().info.id);
}

bool Core::lacks_handler(const TaskInfo& info) const {
  return info.state != TaskState::finished && context_->handlers.snapshot()->find(info.handler) == nullptr;
}

Result<storage::ListPage> Core::page(TaskQuery query, Millis within) {
  query.name_space = context_->options.name_space;
  auto page = storage::list_page(*store_, query, context_->clock, context_->clock.steady() + within);
  if (!page) return page;
  for (task::TaskRecord& record : page->records) record.info.no_handler = lacks_handler(record.info);
  return page;
}

Result<std::vector<task::TaskRecord>> Core::list(TaskQuery query) {
  return page(std::move(query), kNoHurry).map([](storage::ListPage page) { return std::move(page.records); });
}

Result<std::int64_t> Core::count(TaskQuery query) {
  query.name_space = context_->options.name_space;
  if (!storage::needs_walk(query)) return store_->count(query);
  query.after = {};
  query.limit = kCountedAtOnce;
  std::int64_t all = 0;
  while (true) {
    const auto found = page(query, kNoHurry);
    if (!found) return tl::make_unexpected(found.error());
    all += static_cast<std::int64_t>(found->records.size());
    if (!found->next) return all;
    query.after = *found->next;
  }
}

void Core::listen() {
  runs_here_ = true;
  subscription_ = store_->listen(context_->options.name_space, [this] {
    loader_.look_soon();
    intake_.look_soon();
  });
  loader_.rely_on_news(subscription_ != nullptr);
}

void Core::stop_listening() {
  subscription_.reset();
  runs_here_ = false;
}

void Core::stop_claiming() {
  loader_.stop();
  schedule_.stop();
}

bool Core::owns(const Ownership& owned, const std::string& handler, TaskId id) const {
  return owned.part(handler).role(task::shard_of(id, total_shards_)) == Ownership::Role::owns;
}

void Core::own(Ownership owned) {
  if (!loader_.own(std::move(owned))) return;
  const auto now = loader_.owned();
  const auto table = context_->handlers.snapshot();
  schedule_.forget(
      [&](const DueTask& task) { return !owns(*now, table->by_number[task.handler]->handler.name, task.id); });
}

// Throws std::invalid_argument for settings that only a daemon can apply, if this is an engine of one.
void Core::refuse_what_the_daemon_decides(const std::string& handler, const HandlerOptions& options) const {
  if (!store_->info().is_daemon) return;
  if (options.keep || options.keep_args) {
    throw std::invalid_argument("handler \"" + handler +
                                "\": keep and keep_args belong into the configuration of the daemon");
  }
  if (options.limit) {
    throw std::invalid_argument(
        "handler \"" + handler +
        "\": its limit belongs into the configuration of the daemon, which gives out its tasks");
  }
}

void Core::add_handler(detail::Handler handler) {
  refuse_what_the_daemon_decides(handler.name, handler.options);
  context_->handlers.add(std::move(handler));
  loader_.hurry();  // its tasks may have been waiting for it
  intake_.look_soon();
  renewer_.wakeup.notify();  // it looks for timeouts as often as the shortest one requires
  context_->circuits.notify();
  context_->braking.notify();
}

void Core::reconfigure(const std::map<std::string, HandlerSettings>& handlers, const EngineOptions& live) {
  for (const auto& [name, settings] : handlers) refuse_what_the_daemon_decides(name, settings.options);
  context_->handlers.reconfigure(handlers);
  const Millis window = context_->live.window;
  context_->live = live;
  outcomes_->batch(live.batch);
  if (live.window != window) schedule_.look_ahead(live.window);
  loader_.hurry();           // its next pass follows the new window and poll
  renewer_.wakeup.notify();  // timeouts may be shorter now
  context_->circuits.notify();
  context_->braking.notify();
}

void Core::add_filter(Filter filter) {
  context_->handlers.close_gates();
  context_->filters.add(std::move(filter));
}

Stats Core::stats() const {
  const Counters& c = context_->counters;
  Stats s;
  s.stored = c.stored;
  s.claimed = c.claimed;
  s.succeeded = c.succeeded;
  s.retried = c.retried;
  s.exhausted = c.exhausted;
  s.rejected = c.rejected;
  s.quarantined = c.quarantined;
  s.parked = c.parked;
  s.cancelled = c.cancelled;
  s.handed_back = c.handed_back;
  s.callback_failures = c.callback_failures;
  s.callbacks_abandoned = c.callbacks_abandoned;
  s.lost_claims = c.lost_claims;
  s.stale_settles = c.stale_settles;
  s.leases_lost = c.leases_lost;
  s.timeouts = c.timeouts;
  s.store_errors = c.store_errors;
  s.internal_errors = c.internal_errors;
  s.listener_failures = c.listener_failures;
  s.events_dropped = c.events_dropped;
  s.lost_in_memory = c.lost_in_memory;
  s.read_ahead = schedule_.held();
  s.running = in_flight_.size();
  s.no_handler = loader_.no_handler();
  return s;
}

}  // namespace easyretry::engine
