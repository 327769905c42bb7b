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
    interrupt_if_cancelled(*run);
  }
}

// A task whose owner is told of its cancellation comes back with its id, but not to be run.
void Holdings::interrupt_if_cancelled(Run& run) const {
  if (run.record.info.stage != Stage::run || !cancelled_.contains(run.record.info.id)) return;
  run.interrupt_with(Interrupt::cancelled);
}

void Holdings::cancelled(std::span<const TaskId> ids) {
  const std::lock_guard lock{mutex_};
  for (const TaskId id : ids) {
    if (cancelled_.insert(id).second) cancelled_first_.push_back(id);
    if (const auto found = runs_.find(id); found != runs_.end()) found->second->interrupt_with(Interrupt::cancelled);
  }
  while (cancelled_.size() > kCancelledKept) {
    cancelled_.erase(cancelled_first_.front());
    cancelled_first_.pop_front();
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
