// Changes that users make to tasks and handlers: end (decisions 31 and 40), requeue, revise (decision 24), pause
// (decision 26).

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/later.h"
#include "engine/core.h"
#include "engine/error_text.h"
#include "storage/retention.h"
#include "task/transitions.h"

namespace easyretry::engine {
namespace {

// How often a revision is tried again because another instance changed the task first.
constexpr int kRevisions = 5;

bool revised_first(const std::vector<bool>& revised) {
  return revised.front();
}

// The handler's last error stays beside the reason that a user gives. A RemoteEngine sends both to its daemon.
std::string with_last_error(const std::string& why, const std::string& last) {
  if (why.empty() || last.empty() || why.ends_with(last)) return kept_error(why);
  return kept_error(why + "; last error: " + last);
}

void require_fit(const detail::Handler& handler, const std::string& result) {
  if (!handler.check_result) return;
  try {
    handler.check_result(result);
  } catch (const detail::UndecodableResult& e) {
    throw std::invalid_argument("on_success of handler \"" + handler.name + "\" cannot take this result: " + e.what());
  }
}

}  // namespace

Result<std::map<TaskId, task::TaskRecord>> Core::records_of(std::span<const TaskId> ids) {
  auto found = store_->find(ids);
  if (!found) return tl::make_unexpected(found.error());
  std::map<TaskId, task::TaskRecord> records;
  for (task::TaskRecord& record : *found) {
    const TaskId id = record.info.id;
    if (record.info.name_space == context_->options.name_space) records.emplace(id, std::move(record));
  }
  return records;
}

// An instance that has the handler knows whether its owner wants to be notified. If the handler is not registered here,
// the instance that runs the callback's stage finds out.
bool Core::may_tell(const TaskInfo& task, Outcome outcome) const {
  const auto known = context_->handlers.snapshot()->find(task.handler);
  if (known == nullptr) return true;
  const detail::Handler& handler = known->handler;
  const bool has_callback =
      outcome == Outcome::succeeded ? handler.on_success != nullptr : handler.on_final_failure != nullptr;
  return has_callback || (handler.remote && handler.remote->may_tell(outcome));
}

Result<task::Ending> Core::ending_of(const task::TaskRecord& record, const task::Ending& as) const {
  task::Ending ending{.id = record.info.id, .outcome = as.outcome};
  ending.tell = as.tell && may_tell(record.info, as.outcome);
  ending.drop_callback = !as.tell;  // if the owner is to be notified, the callback stays, wherever it is registered
  ending.error = with_last_error(as.error, record.info.last_error);
  if (as.outcome != Outcome::succeeded) return ending;
  if (!ending.tell) ending.keep_result = as.keep_result;
  if (const auto known = context_->handlers.snapshot()->find(record.info.handler)) {
    if (ending.tell) require_fit(known->handler, as.result);
    if (!ending.tell) ending.keep_result = std::max(ending.keep_result, known->handler.options.keep_results);
  }
  if (!ending.tell && ending.keep_result <= Millis{0}) return ending;
  if (!ending.tell && as.result.empty() && record.info.stage == Stage::on_success) {
    ending.result = record.result;  // as it was stored for the callback that is dropped
    return ending;
  }
  std::string result = as.result;
  if (!ending.tell && result.size() > context_->live.max_payload) {
    context_->log(LogLevel::warning, "the result of task " + to_string(ending.id) + " is not kept: it has " +
                                         std::to_string(result.size()) + " bytes, more than max_payload");
    result = left_out_result(result.size());
  }
  auto sealed = context_->payloads.seal_result(record, std::move(result));
  if (!sealed) return tl::make_unexpected(sealed.error());
  ending.result = *std::move(sealed);
  return ending;
}

// `task` as it was a moment before it was ended. If it was not due, it cannot have been claimed since.
bool Core::may_be_held_by_others(const TaskInfo& task) const {
  if (!store_->info().shared || in_flight_.find(task.id) != nullptr) return false;
  return task.state == TaskState::running || task.next_at <= context_->store_now() + kBeginWithin;
}

Result<bool> Core::end(TaskId id, const task::Ending& as) {
  if (LocalRetries::is_local(id)) {
    const auto record = local_retries_->find(id);
    if (!record) return false;
    return ending_of(*record, as).map([&](const task::Ending& ending) { return local_retries_->end(ending); });
  }
  return end(std::span<const TaskId>{&id, 1}, as).map([](const std::vector<bool>& ended) { return ended.front(); });
}

Result<std::vector<bool>> Core::end(std::span<const TaskId> ids, const task::Ending& as) {
  const auto records = records_of(ids);
  if (!records) return tl::make_unexpected(records.error());
  std::vector<task::Ending> endings;
  for (const auto& [id, record] : *records) {
    if (record.info.state == TaskState::finished) continue;
    auto ending = ending_of(record, as);
    if (!ending) return tl::make_unexpected(ending.error());
    endings.push_back(*std::move(ending));
  }
  if (endings.empty()) return std::vector<bool>(ids.size());
  const auto reply = context_->ask(StoreVerb::end, [&](storage::Store& store) { return store.end(endings); });
  if (!reply) return tl::make_unexpected(reply.error());
  std::set<TaskId> ended;
  bool held_by_others = false;
  bool callbacks_due = false;
  for (std::size_t i = 0; i < endings.size(); ++i) {
    if (!reply->applied[i]) continue;
    const TaskInfo& info = records->at(endings[i].id).info;
    ended.insert(info.id);
    held_by_others |= may_be_held_by_others(info);
    callbacks_due |= endings[i].tell;
    report(*context_, endings[i], info);
  }
  in_flight_.cancelled(std::vector<TaskId>{ended.begin(), ended.end()});
  if (callbacks_due) wake_an_instance();
  // Another instance may have claimed a task that its worker has not begun. After this time, the worker checks first.
  if (held_by_others) context_->sleep(2 * kBeginWithin);
  std::vector<bool> all;
  for (const TaskId id : ids) all.push_back(ended.contains(id));
  return all;
}

// The task is made due and claimed first: only its holder may decide how it ended.
Result<void> Core::end_as_done(const std::string& handler, const std::string& key) {
  TaskQuery query;
  query.name_space = context_->options.name_space;
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

// A daemon says itself why it refuses a task.
Result<std::optional<TaskId>> Core::requeue(TaskId id) {
  const auto started = requeue(std::span<const TaskId>{&id, 1});
  if (!started) return tl::make_unexpected(started.error());
  if (started->front() || store_->info().is_daemon) return started->front();
  const auto records = records_of({&id, 1});
  if (!records) return tl::make_unexpected(records.error());
  if (!records->contains(id)) return std::nullopt;
  const task::TaskRecord& record = records->at(id);
  const bool may_start = record.info.state == TaskState::finished && !record.info.requeued_as;
  if (!may_start || !storage::lacks_arguments(record)) return std::nullopt;
  return fail(Errc::invalid_argument, "requeue",
              "the arguments of task " + to_string(id) + " were removed (keep_args of its handler): submit it again");
}

Result<std::vector<std::optional<TaskId>>> Core::requeue(std::span<const TaskId> ids, std::optional<TaskClass> as) {
  const auto records = records_of(ids);
  if (!records) return tl::make_unexpected(records.error());
  std::vector<TaskId> ended;
  for (const auto& [id, record] : *records) {
    if (record.info.state == TaskState::finished) ended.push_back(id);
  }
  const auto started = store_->requeue(ended, as);
  if (!started) return tl::make_unexpected(started.error());
  std::map<TaskId, TaskId> again;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    if (!(*started)[i]) continue;
    again.emplace(ended[i], *(*started)[i]);
    report_requeued(*context_, records->at(ended[i]).info, *(*started)[i]);
  }
  if (!again.empty()) wake_an_instance();
  std::vector<std::optional<TaskId>> all;
  for (const TaskId id : ids) all.push_back(again.contains(id) ? std::optional{again.at(id)} : std::nullopt);
  return all;
}

Result<std::optional<TaskId>> Core::requeue_with(TaskId id, std::string arguments, std::optional<TaskClass> as) {
  if (arguments.size() > context_->live.max_payload) {
    return fail(Errc::invalid_argument, "requeue",
                "the arguments have " + std::to_string(arguments.size()) + " bytes as JSON; max_payload allows " +
                    std::to_string(context_->live.max_payload));
  }
  const auto records = records_of({&id, 1});
  if (!records) return tl::make_unexpected(records.error());
  const auto found = records->find(id);
  if (found == records->end() || found->second.info.state != TaskState::finished) return std::nullopt;
  const auto sealed = context_->payloads.seal_arguments(found->second, std::move(arguments));
  if (!sealed) return tl::make_unexpected(sealed.error());
  const auto started = store_->requeue_with(id, *sealed, as);
  if (started && *started) {
    report_requeued(*context_, found->second.info, **started);
    wake_an_instance();
  }
  return started;
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
  for (int tries = 0; tries < kRevisions && !left.empty(); ++tries) {
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
    if (info.name_space != context_->options.name_space || info.state != TaskState::pending) continue;
    task::Revision revision = make(record);
    if (revision.delay || revision.rules) {
      revision.ticket = {info.id, info.version};
      changed.push_back({{info.id, info.version + 1},
                         info.next_at,
                         table->number_of(info.handler),
                         storage::suspicion_byte(task::suspicion(record)),
                         info.task_class,
                         task::is_retried(record)});
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
  auto changed = store_->pause(context_->options.name_space, handler, why);
  if (changed) {
    context_->pauses.paused_here();  // from now on nothing is claimed before the watch has seen it
    pause_watch_.look_now();
  }
  return changed;
}

Result<bool> Core::resume(std::string_view handler) {
  auto changed = store_->resume(context_->options.name_space, handler);
  if (changed) pause_watch_.look_now();
  return changed;
}

// A pause keeps the reason that it was given first, so an earlier order is removed. If another one comes between the
// two steps, both are made again.
Result<void> Core::store_order(const StoredOrder& order) {
  constexpr int kTries = 5;
  for (int i = 0; i < kTries; ++i) {
    if (const auto removed = resume(order.key); !removed) return tl::unexpected(removed.error());
    const auto added = pause(order.key, order.text);
    if (!added) return tl::unexpected(added.error());
    if (*added) return {};
  }
  return fail(Errc::unavailable, "order", "others give orders about the same at this time; try again");
}

Result<storage::PausedReply> Core::paused() {
  auto reply = store_->paused(options().name_space);
  if (reply) take_orders(*reply);  // hides them: they are not pauses
  return reply;
}

void Core::pauses_changed() {
  schedule_.forget([this](const DueTask& task) { return context_->is_paused(task.handler); });
  // Tasks that exist only in memory stay: pauses are for stored tasks.
  hand_back_waiting([this](const Run& run) { return !run.settled && context_->is_paused(run.no); });
  circuit_opened();
  // For tasks of resumed handlers, and for tasks that had no room because of paused handlers.
  loader_.hurry();
}

void Core::hand_back_waiting(const std::function<bool(const Run&)>& wanted) {
  for (RunPtr& run : workers_->take_waiting(wanted)) {
    task::Settlement back = handed_back(*run);
    outcomes_->put(std::move(run), std::move(back));
  }
}

}  // namespace easyretry::engine
