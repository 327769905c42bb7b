#include "engine/claimer.h"

#include <algorithm>
#include <map>

namespace easyretry::engine {
namespace {

void count_first_attempts(const std::vector<RunPtr>& runs, Instant now) {
  for (const RunPtr& run : runs) {
    const TaskInfo& info = run->record.info;
    if (info.stage == Stage::run && info.deliveries == 1) run->handler->count_first_attempt(now);
  }
}

}  // namespace

void Dispatcher::dispatch(std::vector<task::TaskRecord> won,
                          const std::function<Instant(const task::TaskRecord&)>& trusted_until) const {
  const auto table = context_.handlers.snapshot();
  std::vector<RunPtr> runs;
  runs.reserve(won.size());
  for (task::TaskRecord& record : won) {
    const auto known = table->by_name.find(record.info.handler);
    if (known == table->by_name.end())
      continue;  // the row was edited manually since it was read; its lease will expire
    const HandlerNo no = known->second;
    const Instant until = trusted_until(record);
    context_.spans.mark_attempt(record.info);
    if (context_.events.heard()) context_.events.tell({EventKind::claimed, context_.store_now(), record.info, {}});
    runs.push_back(std::make_shared<Run>(std::move(record), table->by_number[no], no, until));
    runs.back()->held = std::make_shared<Held>(table->by_number[no]->holdings);
  }
  in_flight_.add(runs);
  count_first_attempts(runs, context_.clock.steady());
  hand_out(std::move(runs));
}

void Dispatcher::hand_out(std::vector<RunPtr> runs) const {
  std::vector<RunPtr> here;
  std::map<RemoteExecutor*, std::vector<RunPtr>> away;
  for (RunPtr& run : runs) {
    RemoteExecutor* const remote = run->handler->handler.remote.get();
    (remote == nullptr ? here : away[remote]).push_back(std::move(run));
  }
  for (auto& [remote, theirs] : away) remote->take(std::move(theirs));
  workers_.take(std::move(here));
}

Step Claimer::step() {
  if (schedule_.stopped()) return {};
  clear_doubtful();
  if (!in_doubt_) {
    const bool begin = schedule_.take(number_, batch_);
    if (batch_.empty()) return {false, std::min(schedule_.watch(number_), next_look())};
    claim(begin);
  } else if (!schedule_.paused()) {
    clear_doubt();
  }
  return schedule_.paused() ? Step{true, schedule_.watch(number_)} : Step::again();
}

void Claimer::claim(bool begin) {
  tickets_.clear();
  for (const DueTask& task : batch_) tickets_.push_back(task);
  // By id: every instance locks rows in the same order, so claims cannot deadlock.
  std::sort(tickets_.begin(), tickets_.end());

  context_.measures.claim_batch.add(tickets_.size());
  sent_ = context_.clock.steady();
  auto reply = context_.ask(StoreVerb::claim, [&](storage::Store& store) {
    return store.claim({tickets_, context_.owner, context_.options.lease, begin});
  });
  if (reply) {
    doubtful_.insert(doubtful_.end(), reply->in_doubt.begin(), reply->in_doubt.end());
    std::sort(doubtful_.begin(), doubtful_.end());
    hold_doubtful(reply->in_doubt);
    claimed(std::move(reply->won));
  } else if (reply.error().code == Errc::in_doubt) {
    in_doubt_ = true;
    clear_doubt();
  } else {
    schedule_.put_back(batch_);
    schedule_.pause();
  }
}

// They may run under brakes, so they count until that is known.
void Claimer::hold_doubtful(const std::vector<task::Ticket>& tickets) {
  const auto table = context_.handlers.snapshot();
  for (const DueTask& task : batch_) {
    if (std::ranges::find(tickets, task.id, &task::Ticket::id) == tickets.end()) continue;
    doubtful_held_.push_back(std::make_unique<Held>(table->by_number[task.handler]->holdings));
  }
}

// Delivers first: as long as the Schedule does not know the result, the other Claimer cannot get these tasks.
void Claimer::claimed(std::vector<task::TaskRecord> won) {
  Counters::add(context_.counters.claimed, won.size());
  Counters::add(context_.counters.lost_claims, batch_.size() - won.size());
  deliver(std::move(won));
  schedule_.claimed(batch_);
}

// Finds out what a call claimed whose reply was lost, however long that takes: left alone, these tasks would come back
// as crashes that never happened.
void Claimer::clear_doubt() {
  auto won = look(tickets_);
  if (!won) return schedule_.pause();
  in_doubt_ = false;
  claimed(std::move(*won));
}

void Claimer::clear_doubtful() {
  if (context_.clock.steady() < next_look()) return;
  auto won = look(doubtful_);
  if (!won) {
    look_at_ = context_.clock.steady() + pause_after_failures(looks_failed_++, context_.random);
    return;
  }
  looks_failed_ = 0;
  doubtful_.clear();
  Counters::add(context_.counters.claimed, won->size());
  deliver(std::move(*won));
  doubtful_held_.clear();
}

Instant Claimer::next_look() const {
  return doubtful_.empty() ? Instant::max() : look_at_;
}

// A row with our name and the next version was claimed by that very call.
Result<std::vector<task::TaskRecord>> Claimer::look(const std::vector<task::Ticket>& tickets) {
  std::vector<TaskId> ids;
  for (const task::Ticket& ticket : tickets) {
    // Already won by an earlier call that this one repeats (a task may have been read twice): it must not run twice.
    const RunPtr held = in_flight_.find(ticket.id);
    if (held == nullptr || held->record.info.version != ticket.version + 1) ids.push_back(ticket.id);
  }
  auto found = context_.store.find(ids);
  if (!found) {
    context_.note(found.error());
    return found;
  }
  std::erase_if(*found, [&](const task::TaskRecord& record) {
    const auto asked = std::lower_bound(tickets.begin(), tickets.end(), task::Ticket{record.info.id, 0});
    return record.info.state != TaskState::running || record.locked_by != context_.owner ||
           record.info.version != asked->version + 1;
  });
  return confirmed(*std::move(found));
}

// These claims may be lost if the server dies now: a replica, or a recovery from disk, would give the tasks to
// another instance. A renewal waits for the disk and the replicas as the claim did.
Result<std::vector<task::TaskRecord>> Claimer::confirmed(std::vector<task::TaskRecord> found) {
  if (found.empty() || !context_.store.info().reads_run_ahead) return found;
  std::vector<storage::Renewal> renewals;
  renewals.reserve(found.size());
  for (const task::TaskRecord& record : found) {
    renewals.push_back({{record.info.id, record.info.version}, context_.options.lease});
  }
  const auto reply = context_.ask(StoreVerb::renew, [&](storage::Store& store) { return store.renew(renewals); });
  if (!reply) return tl::make_unexpected(reply.error());
  if (reply->trouble) return tl::make_unexpected(*reply->trouble);
  std::vector<task::TaskRecord> ours;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (reply->applied[i]) ours.push_back(std::move(found[i]));
  }
  return ours;
}

void Claimer::deliver(std::vector<task::TaskRecord> won) {
  const Millis lease = context_.options.lease;
  dispatcher_.dispatch(std::move(won), [&](const task::TaskRecord& record) {
    // After a lost reply, the task may have been claimed by an earlier call than the last one.
    return std::min(trust(sent_, lease), trust(context_.store_time.when(record.lease_until - lease), lease));
  });
}

}  // namespace easyretry::engine
