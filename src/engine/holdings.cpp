#include "engine/holdings.h"

namespace easyretry::engine {

void Holdings::add(std::span<const RunPtr> runs) {
  const std::lock_guard lock{mutex_};
  for (const RunPtr& run : runs) runs_.insert_or_assign(run->record.info.id, run);
}

void Holdings::remove(std::span<const RunPtr> runs) {
  const std::lock_guard lock{mutex_};
  for (const RunPtr& run : runs) {
    const auto found = runs_.find(run->record.info.id);
    if (found != runs_.end() && found->second == run) runs_.erase(found);
  }
}

RunPtr Holdings::find(TaskId id) const {
  const std::lock_guard lock{mutex_};
  const auto found = runs_.find(id);
  return found == runs_.end() ? nullptr : found->second;
}

std::vector<RunPtr> Holdings::all() const {
  const std::lock_guard lock{mutex_};
  std::vector<RunPtr> all;
  all.reserve(runs_.size());
  for (const auto& [id, run] : runs_) all.push_back(run);
  return all;
}

std::size_t Holdings::size() const {
  const std::lock_guard lock{mutex_};
  return runs_.size();
}

}  // namespace easyretry::engine
