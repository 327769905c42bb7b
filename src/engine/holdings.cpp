#include "engine/holdings.h"

namespace easyretry::engine {
namespace {

std::size_t is_elsewhere(const Run& run) {
  return run.handler->handler.elsewhere != nullptr ? 1 : 0;
}

}  // namespace

void Holdings::add(std::span<const RunPtr> runs) {
  const std::lock_guard lock{mutex_};
  for (const RunPtr& run : runs) {
    RunPtr& held = runs_[run->record.info.id];
    if (held) elsewhere_ -= is_elsewhere(*held);
    held = run;
    elsewhere_ += is_elsewhere(*run);
  }
}

void Holdings::remove(std::span<const RunPtr> runs) {
  const std::lock_guard lock{mutex_};
  for (const RunPtr& run : runs) {
    const auto found = runs_.find(run->record.info.id);
    if (found == runs_.end() || found->second != run) continue;
    runs_.erase(found);
    elsewhere_ -= is_elsewhere(*run);
  }
  if (elsewhere_ == 0) all_here_.notify_all();
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

std::size_t Holdings::here() const {
  const std::lock_guard lock{mutex_};
  return runs_.size() - elsewhere_;
}

std::size_t Holdings::size() const {
  const std::lock_guard lock{mutex_};
  return runs_.size();
}

bool Holdings::wait_none_elsewhere(Instant until) {
  std::unique_lock lock{mutex_};
  return all_here_.wait_until(lock, until, [this] { return elsewhere_ == 0; });
}

}  // namespace easyretry::engine
