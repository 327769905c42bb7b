#include "server/error_groups.h"

#include <algorithm>

#include "base/utf8.h"
#include "task/error_kind.h"

namespace easyretry::server {

namespace {

// An instance whose clock runs ahead of ours may have written a time in the future.
void count_hour(ErrorGroup& group, Millis age) {
  const auto hours = static_cast<std::size_t>(std::max(age, Millis{0}) / std::chrono::hours{1});
  if (hours < group.by_hour.size()) ++group.by_hour[group.by_hour.size() - 1 - hours];
}

}  // namespace

void ErrorGroups::add(const TaskInfo& task, TimePoint failed_at) {
  std::string kind = task::kind_of(task.last_error);
  if (by_kind_.size() >= kMostKinds && !by_kind_.contains(kind)) kind = kOthers;
  const auto [found, fresh] = by_kind_.try_emplace(kind);
  ErrorGroup& group = found->second;
  if (fresh) group = {.kind = kind, .first_seen = failed_at, .last_seen = failed_at};
  ++group.count;
  count_hour(group, now_ - failed_at);
  group.first_seen = std::min(group.first_seen, failed_at);
  group.last_seen = std::max(group.last_seen, failed_at);
  if (group.handlers.size() < kMostHandlers) group.handlers.insert(base::storable_utf8(task.handler));
  // Ids grow with time.
  group.ids.insert(std::ranges::upper_bound(group.ids, task.id, std::greater<>{}), task.id);
  if (group.ids.size() > kSamples) group.ids.pop_back();
}

std::vector<ErrorGroup> ErrorGroups::largest(std::size_t most) const {
  std::vector<ErrorGroup> all;
  for (const auto& [kind, group] : by_kind_) all.push_back(group);
  std::ranges::sort(all, std::greater<>{}, [](const ErrorGroup& one) { return std::pair{one.count, one.last_seen}; });
  if (all.size() > most) all.resize(most);
  return all;
}

}  // namespace easyretry::server
