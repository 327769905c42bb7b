// What people end and begin again, one task or many.

#include <set>

#include "engine/core.h"
#include "engine/elsewhere.h"
#include "engine/reporting.h"

namespace easyretry::engine {
namespace {

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

// Whoever has the handler knows whether its owner wants to be told. Nobody here: then it is found out by the instance
// that runs the callback's stage.
bool Core::may_tell_of_failures(const TaskInfo& task) const {
  const auto known = context_->handlers.snapshot()->find(task.handler);
  if (known == nullptr) return true;
  const detail::Handler& handler = known->handler;
  return handler.on_final_failure != nullptr || (handler.elsewhere && handler.elsewhere->may_tell_of_failures());
}

// As it was a moment before it was cancelled. What is not due cannot have been claimed since.
bool Core::may_be_held_by_others(const TaskInfo& task) const {
  if (!store_->info().shared || holdings_.find(task.id) != nullptr) return false;
  return task.state == TaskState::running || task.next_at <= context_->store_now() + kBeginWithin;
}

Result<bool> Core::cancel(TaskId id, Tell whom) {
  if (LocalRetries::is_local(id)) return local->cancel(id);
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
  holdings_.cancelled(std::vector<TaskId>{cancelled.begin(), cancelled.end()});
  if (live.contains(Cancel::tell)) hurry_somebody();
  // Another instance may have claimed one that its workers have not begun with: they look before they begin by then.
  if (held_by_others) context_->sleep(2 * kBeginWithin);
  std::vector<bool> all;
  for (const TaskId id : ids) all.push_back(cancelled.contains(id));
  return all;
}

// The task is made due and claimed first: as its holder alone, this instance may say how it ended.
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
  holdings_.add({&run, 1});
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
  if (!again.empty()) hurry_somebody();
  std::vector<std::optional<TaskId>> all;
  for (const TaskId id : ids) all.push_back(again.contains(id) ? std::optional{again.at(id)} : std::nullopt);
  return all;
}

}  // namespace easyretry::engine
