#include "storage/sql/requeues.h"

#include <algorithm>
#include <set>
#include <utility>

#include "storage/sql/writes.h"

namespace easyretry::storage::sql {

// Locked before they are looked at: of two that requeue the same task, the second one meets the mark of the first. All
// go through the months, and through the rows of a month, in the same order.
std::map<TaskId, Requeues::Ended> Requeues::lock(std::span<const TaskId> ids) {
  std::set<TaskId> wanted{ids.begin(), ids.end()};
  std::map<TaskId, Ended> ended;
  for (const std::string& table : tables_.histories(session_)) {
    if (wanted.empty()) break;
    const std::vector<TaskId> sorted{wanted.begin(), wanted.end()};
    for (TaskRecord& record : session_.lock_history(table, sorted)) {
      const TaskId id = record.info.id;
      wanted.erase(id);
      ended.emplace(id, Ended{std::move(record), table});
    }
  }
  return ended;
}

std::vector<std::optional<TaskId>> Requeues::start_again(std::span<const TaskId> ids) {
  std::vector<std::optional<TaskId>> started(ids.size());
  if (ids.empty()) return started;
  std::map<TaskId, Ended> ended = lock(ids);
  LiveRows rows{session_, tables_, now_};
  const std::string history = history_for(tables_, now_);
  std::map<std::string, std::vector<Requeued>> marks;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto found = ended.find(ids[i]);
    if (found == ended.end() || found->second.record.info.requeued_as) continue;
    auto& [record, table] = found->second;
    started[i] = inserts_.start_again(rows, history, record, now_);
    if (!started[i]) continue;
    record.info.requeued_as = started[i];
    marks[table].push_back({ids[i], *started[i]});
  }
  for (auto& [table, requeued] : marks) {
    std::sort(requeued.begin(), requeued.end(), [](const Requeued& a, const Requeued& b) { return a.id < b.id; });
    session_.mark_requeued(table, requeued);
  }
  return started;
}

}  // namespace easyretry::storage::sql
