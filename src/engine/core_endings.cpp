// What people end and begin again, one task or many.

#include <set>

#include "engine/core.h"
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

bool Core::tells_of_failures(const TaskInfo& task) const {
  const auto handler = context_->handlers.snapshot()->find(task.handler);
  return handler != nullptr && handler->handler.on_final_failure != nullptr;
}

Result<bool> Core::cancel(TaskId id) {
  if (LocalRetries::is_local(id)) return local->cancel(id);
  return cancel(std::span<const TaskId>{&id, 1}).map([](const std::vector<bool>& cancelled) {
    return cancelled.front();
  });
}

Result<std::vector<bool>> Core::cancel(std::span<const TaskId> ids) {
  using storage::Cancel;
  const auto infos = infos_of(ids);
  if (!infos) return tl::make_unexpected(infos.error());
  std::map<Cancel, std::vector<TaskId>> live;
  for (const auto& [id, info] : *infos) {
    if (info.state != TaskState::finished) live[tells_of_failures(info) ? Cancel::tell : Cancel::end].push_back(id);
  }
  std::set<TaskId> cancelled;
  for (const auto& [how, these] : live) {
    const auto reply = context_->ask(
        StoreVerb::cancel, [&, way = how, &of = these](storage::Store& store) { return store.cancel(of, way); });
    if (!reply) return tl::make_unexpected(reply.error());
    for (std::size_t i = 0; i < these.size(); ++i) {
      if (!reply->applied[i]) continue;
      cancelled.insert(these[i]);
      if (const RunPtr run = holdings_.find(these[i])) run->interrupt_with(Interrupt::cancelled);
      if (how == Cancel::end) report(*context_, cancelled_settlement(), infos->at(these[i]));
    }
  }
  if (live.contains(Cancel::tell)) hurry_somebody();
  std::vector<bool> all;
  for (const TaskId id : ids) all.push_back(cancelled.contains(id));
  return all;
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
