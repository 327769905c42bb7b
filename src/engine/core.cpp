#include "engine/core.h"

#include <algorithm>

#include "cluster/membership.h"
#include "cluster/open_membership.h"
#include "engine/reporting.h"
#include "task/task_id.h"
#include "task/transitions.h"

namespace easyretry::engine {
namespace {

std::shared_ptr<Context> make_context(storage::Store& store, const Clock& clock, CoreOptions options) {
  const std::uint64_t seed = options.seed != 0 ? options.seed : base::random_seed();
  std::string owner = options.owner.empty() ? cluster::make_node() : std::move(options.owner);
  return std::make_shared<Context>(store, clock, std::move(options.engine), std::move(owner), seed);
}

std::unique_ptr<cluster::Membership> make_membership(Context& context) {
  return cluster::open_membership(cluster::parse_membership(context.options.membership), context.store,
                                  {context.options.space, context.owner, context.options.lease, context.options.log});
}

}  // namespace

Core::Core(std::shared_ptr<storage::Store> store, const Clock& clock, CoreOptions options, const MakeWorkers& workers)
    : store_(std::move(store)),
      total_shards_(store_->info().total_shards),
      context_(make_context(*store_, clock, std::move(options))),
      inserting_(*context_),
      outcomes_(std::make_shared<Outcomes>(context_->options.batch)),
      workers_(workers(context_, outcomes_)),
      schedule(*context_, holdings_, *workers_),
      claimers{Claimer{0, *context_, schedule, holdings_, *workers_},
               Claimer{1, *context_, schedule, holdings_, *workers_}},
      loader(*context_, schedule, store_->info(), [this] { intake.look_soon(); }),
      settler(*context_, *outcomes_, holdings_, schedule, *workers_),
      renewer(*context_, holdings_),
      keeper(*context_),
      pause_watch(*context_, schedule, [this] { pauses_changed(); }),
      intake(*context_, store_->info(),
             [this](auto tasks, auto inserted) {
               stored(tasks, inserted);
               loader.something_came();
             }),
      rebalancer(*context_, make_membership(*context_), total_shards_,
                 [this](Ownership owned) { own(std::move(owned)); }),
      local(std::make_shared<LocalRetries>(*context_, holdings_, *workers_)) {
  context_->handlers.on_add([this] { rebalancer.handlers_changed(); });
}

Result<std::vector<storage::Inserted>> Core::submit(std::span<const task::NewTask> tasks) {
  auto inserted = inserting_.insert(tasks);
  if (inserted) stored(tasks, *inserted);
  return inserted;
}

void Core::stored(std::span<const task::NewTask> tasks, std::span<const storage::Inserted> inserted) {
  std::vector<Soon> free;
  free.reserve(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto& [id, version, next_at, created] = inserted[i];
    if (!created) continue;
    report_stored(*context_, tasks[i], id, next_at);
    if (tasks[i].lease == Millis{0}) free.push_back({id, version, &tasks[i].handler, next_at});
  }
  offer_soon(free);
}

Result<std::vector<storage::Inserted>> Core::submit(const Transaction& within, std::span<const task::NewTask> tasks) {
  auto reply = store_->insert_within(within, tasks);
  if (!reply) return tl::make_unexpected(reply.error());
  loader.expect_more();
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
  auto run = std::make_shared<Run>(task::new_record(task, stored.id, context_->store_now()), table->by_number[no], no,
                                   trust(sent, task.lease));
  holdings_.add({&run, 1});
  return Started{stored.id, std::move(run)};
}

void Core::settle_started(const RunPtr& run, task::Settlement settlement) {
  if (settle_now(run, settlement)) return;
  if (settler_is_stepped_) return outcomes_->put(run, std::move(settlement));
  context_->log(LogLevel::warning, "the outcome of task " + to_string(settlement.ticket.id) +
                                       " could not be written; it will run again when its lease expires");
  let_go({&run, 1});
}

Result<bool> Core::settle_now(const RunPtr& run, task::Settlement settlement) {
  const auto applied = settle_now(std::vector{Settled{run, std::move(settlement)}});
  if (!applied) return tl::make_unexpected(applied.error());
  return applied->front();
}

Result<std::vector<bool>> Core::settle_now(std::vector<Settled> settled) {
  std::vector<task::Settlement> settlements;
  settlements.reserve(settled.size());
  for (Settled& one : settled) {
    task::Settlement& settlement = settlements.emplace_back(std::move(one.settlement));
    settlement.space = one.run->record.info.space;
    settlement.handler = one.run->record.info.handler;
  }
  context_->measures.settle_batch.add(settlements.size());
  const auto reply = context_->ask(StoreVerb::settle, [&](storage::Store& store) { return store.settle(settlements); });
  if (!reply) return tl::make_unexpected(reply.error());
  for (std::size_t i = 0; i < settled.size(); ++i) {
    if (std::binary_search(reply->unanswered.begin(), reply->unanswered.end(), i)) continue;
    settler.written(settled[i].run, settlements[i], reply->applied[i], reply->now);
  }
  if (reply->trouble) return fail(Errc::in_doubt, reply->trouble->where, reply->trouble->detail);
  return reply->applied;
}

void Core::offer_soon(std::span<const Soon> tasks) {
  const auto table = context_->handlers.snapshot();
  const TimePoint horizon = context_->store_now() + context_->options.window;
  const auto owned = loader.owned();
  std::vector<Offer> offers;
  offers.reserve(tasks.size());
  bool for_others = false;
  for (const Soon& task : tasks) {
    if (task.due > horizon) continue;
    const auto handler = table->by_name.find(*task.handler);
    if (handler == table->by_name.end() || !owns(*owned, *task.handler, task.id)) {
      for_others = true;
      continue;
    }
    offers.push_back({{task.id, static_cast<std::uint32_t>(task.version), handler->second, task.suspicion}, task.due});
  }
  for_others |= !offers.empty() && (!runs_here_ || offers.size() > schedule.room());
  schedule.offer(offers);
  if (for_others) announce();
}

void Core::hurry_somebody() {
  loader.hurry();
  if (!runs_here_) announce();
}

Result<std::optional<task::TaskRecord>> Core::find(TaskId id) {
  if (LocalRetries::is_local(id)) {
    task::TaskRecord record;
    const auto found = local->find(id);
    if (!found) return std::nullopt;
    record.info = *found;
    return record;
  }
  auto found = store_->find({&id, 1});
  if (!found) return tl::make_unexpected(found.error());
  if (found->empty() || found->front().info.space != context_->options.space) return std::nullopt;
  task::TaskRecord record = std::move(found->front());
  record.info.no_handler = lacks_handler(record.info);
  return record;
}

bool Core::lacks_handler(const TaskInfo& info) const {
  return info.state != TaskState::finished && context_->handlers.snapshot()->find(info.handler) == nullptr;
}

Result<std::vector<task::TaskRecord>> Core::list(TaskQuery query) {
  query.space = context_->options.space;
  auto found = store_->list(query);
  if (!found) return found;
  for (task::TaskRecord& record : *found) record.info.no_handler = lacks_handler(record.info);
  return found;
}

Result<std::int64_t> Core::count(TaskQuery query) {
  query.space = context_->options.space;
  return store_->count(query);
}

void Core::listen() {
  runs_here_ = true;
  listening_ = store_->listen(context_->options.space, [this] {
    loader.look_soon();
    intake.look_soon();
  });
  loader.rely_on_news(listening_ != nullptr);
}

void Core::stop_listening() {
  listening_.reset();
  runs_here_ = false;
}

bool Core::owns(const Ownership& owned, const std::string& handler, TaskId id) const {
  return owned.part(handler).role(task::shard_of(id, total_shards_)) == Ownership::Role::owns;
}

void Core::own(Ownership owned) {
  if (!loader.own(std::move(owned))) return;
  const auto now = loader.owned();
  const auto table = context_->handlers.snapshot();
  schedule.forget(
      [&](const WheelEntry& entry) { return !owns(*now, table->by_number[entry.handler]->handler.name, entry.id); });
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
  s.read_ahead = schedule.held();
  s.running = holdings_.size();
  s.no_handler = loader.no_handler();
  return s;
}

}  // namespace easyretry::engine
