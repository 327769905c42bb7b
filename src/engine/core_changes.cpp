// Changes that people make to tasks and handlers: cancel, requeue, revise (decision 24), pause (decision 26).

#include <set>
#include <unordered_set>

#include "base/later.h"
#include "engine/core.h"
#include "task/transitions.h"

namespace easyretry::engine {
namespace {

// How often a revision is tried again because another instance changed the task first.
constexpr int kTries = 5;

bool revised_first(const std::vector<bool>& revised) {
  return revised.front();
}

task::Settlement cancelled_settlement() {
  task::Settlement settlement;
  settlement.outcome = Outcome::cancelled;
  return settlement;
}

}  // namespace

Result<std::map<TaskId, TaskInfo>> Core::infos_of(std::span<const TaskId> ids) {
  auto found = store_->find(ids);
  if (!found) return tl::make_unexpected(found.error());
  std::map<TaskId, TaskInfo> infos;
  for (task::TaskRecord& record : *found) {
    if (record.info.space == context_->options.space) infos.emplace(record.info.id, std::move(record.info));
  }
  return infos;
}

// An instance that has the handler knows whether its owner wants to be notified. Without it here, the instance that
// runs the callback's stage finds out.
bool Core::may_tell_of_failures(const TaskInfo& task) const {
  const auto known = context_->handlers.snapshot()->find(task.handler);
  if (known == nullptr) return true;
  const detail::Handler& handler = known->handler;
  return handler.on_final_failure != nullptr || (handler.remote && handler.remote->may_tell_of_failures());
}

// `task` as it was a moment before it was cancelled. If it was not due, it cannot have been claimed since.
bool Core::may_be_held_by_others(const TaskInfo& task) const {
  if (!store_->info().shared || in_flight_.find(task.id) != nullptr) return false;
  return task.state == TaskState::running || task.next_at <= context_->store_now() + kBeginWithin;
}

Result<bool> Core::cancel(TaskId id, Tell whom) {
  if (LocalRetries::is_local(id)) return local_retries_->cancel(id);
  return cancel(std::span<const TaskId>{&id, 1}, whom).map([](const std::vector<bool>& cancelled) {
    return cancelled.front();
  });
}

Result<std::vector<bool>> Core::cancel(std::span<const TaskId> ids, Tell whom) {
  using storage::Cancel;
  const auto infos = infos_of(ids);
  if (!infos) return tl::make_unexpected(infos.error());
  std::map<Cancel, std::vector<TaskId>> live;
  for (const auto& [id, info] : *infos) {
    if (info.state == TaskState::finished) continue;
    const bool tell = whom == Tell::owner && may_tell_of_failures(info);
    live[tell ? Cancel::tell : Cancel::end].push_back(id);
  }
  std::set<TaskId> cancelled;
  bool held_by_others = false;
  for (const auto& [how, these] : live) {
    const auto reply = context_->ask(
        StoreVerb::cancel, [&, way = how, &of = these](storage::Store& store) { return store.cancel(of, way); });
    if (!reply) return tl::make_unexpected(reply.error());
    for (std::size_t i = 0; i < these.size(); ++i) {
      if (!reply->applied[i]) continue;
      cancelled.insert(these[i]);
      const TaskInfo& info = infos->at(these[i]);
      held_by_others |= may_be_held_by_others(info);
      if (how == Cancel::end) report(*context_, cancelled_settlement(), info);
    }
  }
  in_flight_.cancelled(std::vector<TaskId>{cancelled.begin(), cancelled.end()});
  if (live.contains(Cancel::tell)) wake_an_instance();
  // Another instance may have claimed one that its workers have not begun with: after this time they check it first.
  if (held_by_others) context_->sleep(2 * kBeginWithin);
  std::vector<bool> all;
  for (const TaskId id : ids) all.push_back(cancelled.contains(id));
  return all;
}

// The task is made due and claimed first: only its holder may decide how it ended.
Result<void> Core::end_as_done(const std::string& handler, const std::string& key) {
  TaskQuery query;
  query.space = context_->options.space;
  query.handler = handler;
  query.key = key;
  query.state = TaskState::pending;
  const auto found = store_->list(query);
  if (!found) return tl::make_unexpected(found.error());
  if (found->empty() || found->front().info.stage != Stage::run) return {};
  task::Ticket ticket{found->front().info.id, found->front().info.version};
  const task::Revision due{ticket, Millis{0}, std::nullopt};
  const auto revised = context_->ask(StoreVerb::revise, [&](storage::Store& store) { return store.revise({&due, 1}); });
  if (!revised) return tl::make_unexpected(revised.error());
  if (!revised->applied.front()) return {};
  ++ticket.version;
  const Instant sent = context_->clock.steady();
  const Millis lease = context_->options.lease;
  auto claimed = context_->ask(StoreVerb::claim, [&](storage::Store& store) {
    return store.claim({{&ticket, 1}, context_->owner, lease});
  });
  if (!claimed) return tl::make_unexpected(claimed.error());
  const auto table = context_->handlers.snapshot();
  const auto known = table->by_name.find(handler);
  if (claimed->won.empty() || known == table->by_name.end()) return {};
  auto run = std::make_shared<Run>(std::move(claimed->won.front()), table->by_number[known->second], known->second,
                                   trust(sent, lease));
  in_flight_.add({&run, 1});
  task::Settlement done;
  done.ticket = run->ticket();
  settle_started(run, std::move(done));
  return {};
}

Result<std::optional<TaskId>> Core::requeue(TaskId id) {
  return requeue(std::span<const TaskId>{&id, 1}).map([](const std::vector<std::optional<TaskId>>& started) {
    return started.front();
  });
}

Result<std::vector<std::optional<TaskId>>> Core::requeue(std::span<const TaskId> ids) {
  const auto infos = infos_of(ids);
  if (!infos) return tl::make_unexpected(infos.error());
  std::vector<TaskId> ended;
  for (const auto& [id, info] : *infos) {
    if (info.state == TaskState::finished) ended.push_back(id);
  }
  const auto started = store_->requeue(ended);
  if (!started) return tl::make_unexpected(started.error());
  std::map<TaskId, TaskId> again;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    if (!(*started)[i]) continue;
    again.emplace(ended[i], *(*started)[i]);
    report_requeued(*context_, infos->at(ended[i]), *(*started)[i]);
  }
  if (!again.empty()) wake_an_instance();
  std::vector<std::optional<TaskId>> all;
  for (const TaskId id : ids) all.push_back(again.contains(id) ? std::optional{again.at(id)} : std::nullopt);
  return all;
}

Result<bool> Core::retry_now(TaskId id) {
  return retry_now(std::span<const TaskId>{&id, 1}).map(revised_first);
}

// A task that is already due is left as it is: a new version would only make instances that have read it read it again.
Result<std::vector<bool>> Core::retry_now(std::span<const TaskId> ids) {
  return revise(ids, [this](const task::TaskRecord& record) {
    task::Revision revision;
    if (record.info.next_at > context_->store_now()) revision.delay = Millis{0};
    return revision;
  });
}

Result<bool> Core::revise_rules(TaskId id, const EditRules& edit) {
  const auto make = [&](const task::TaskRecord& record) {
    task::Revision revision;
    revision.rules = edit(record.rules);
    return revision;
  };
  return revise({&id, 1}, make).map(revised_first);
}

Result<std::vector<bool>> Core::revise(std::span<const TaskId> ids, const MakeRevision& make) {
  std::vector<TaskId> left;
  for (const TaskId id : ids) {
    if (!LocalRetries::is_local(id)) left.push_back(id);
  }
  std::set<TaskId> done;
  for (int tries = 0; tries < kTries && !left.empty(); ++tries) {
    auto missed = revise_once(left, make, done);
    if (!missed) return tl::make_unexpected(missed.error());
    left = *std::move(missed);
  }
  std::vector<bool> all;
  for (const TaskId id : ids) all.push_back(done.contains(id));
  return all;
}

Result<std::vector<TaskId>> Core::revise_once(std::span<const TaskId> ids, const MakeRevision& make,
                                              std::set<TaskId>& done) {
  const auto found = store_->find(ids);
  if (!found) return tl::make_unexpected(found.error());
  const auto table = context_->handlers.snapshot();
  std::vector<task::Revision> revisions;
  std::vector<DueTask> changed;
  bool due_already = false;
  for (const task::TaskRecord& record : *found) {
    const TaskInfo& info = record.info;
    if (info.space != context_->options.space || info.state != TaskState::pending) continue;
    task::Revision revision = make(record);
    if (revision.delay || revision.rules) {
      revision.ticket = {info.id, info.version};
      changed.push_back({{info.id, info.version + 1},
                         info.next_at,
                         table->number_of(info.handler),
                         storage::suspicion_byte(task::suspicion(record))});
      revisions.push_back(std::move(revision));
    } else {
      done.insert(info.id);
      due_already = true;
    }
  }
  if (due_already) wake_an_instance();
  if (revisions.empty()) return std::vector<TaskId>{};
  const auto reply = context_->ask(StoreVerb::revise, [&](storage::Store& store) { return store.revise(revisions); });
  if (!reply) return tl::make_unexpected(reply.error());
  std::vector<TaskId> missed;
  std::vector<DueTask> revised;
  for (std::size_t i = 0; i < revisions.size(); ++i) {
    if (!reply->applied[i]) {
      missed.push_back(changed[i].id);
      continue;
    }
    done.insert(changed[i].id);
    if (revisions[i].delay) changed[i].due = base::later(reply->now, *revisions[i].delay);
    revised.push_back(changed[i]);
  }
  offer_revised(revised);
  return missed;
}

// Copies that were read ahead have the old version: at their time they would be claimed in vain.
void Core::offer_revised(std::span<const DueTask> revised) {
  if (revised.empty()) return;
  std::unordered_set<TaskId> ids;
  for (const DueTask& task : revised) ids.insert(task.id);
  schedule_.forget([&ids](const DueTask& task) { return ids.contains(task.id); });
  offer(revised);
}

Result<bool> Core::pause(std::string_view handler, std::string_view why) {
  auto changed = store_->pause(context_->options.space, handler, why);
  if (changed) pause_watch_.look_now();
  return changed;
}

Result<bool> Core::resume(std::string_view handler) {
  auto changed = store_->resume(context_->options.space, handler);
  if (changed) pause_watch_.look_now();
  return changed;
}

void Core::pauses_changed() {
  schedule_.forget([this](const DueTask& task) { return context_->is_paused(task.handler); });
  // Not tasks that exist in memory only: pauses are for stored tasks.
  hand_back_waiting([this](const Run& run) { return !run.settled && context_->is_paused(run.no); });
  // For tasks of resumed handlers, and for those that tasks of the paused ones had left no room for.
  loader_.hurry();
}

void Core::hand_back_waiting(const std::function<bool(const Run&)>& wanted) {
  for (RunPtr& run : workers_->take_waiting(wanted)) {
    task::Settlement back = handed_back(*run);
    outcomes_->put(std::move(run), std::move(back));
  }
}

}  // namespace easyretry::engine
