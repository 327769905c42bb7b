#include "engine/outcomes.h"

#include <iterator>

namespace easyretry::engine {

void Outcomes::put(RunPtr run, task::Settlement settlement) {
  if (run->settled) return run->settled(std::move(settlement));
  {
    const std::lock_guard lock{mutex_};
    inbox_.push_back({std::move(run), std::move(settlement)});
    if (inbox_.size() != 1 && inbox_.size() != batch_) return;
  }
  bell.ring();
}

void Outcomes::take(std::vector<Item>& pending) {
  const std::lock_guard lock{mutex_};
  if (pending.empty()) {
    pending.swap(inbox_);
  } else {
    std::move(inbox_.begin(), inbox_.end(), std::back_inserter(pending));
    inbox_.clear();
  }
  pending_ = !pending.empty();
  if (!pending_) idle_.notify_all();
}

std::size_t Outcomes::size() const {
  const std::lock_guard lock{mutex_};
  return inbox_.size();
}

bool Outcomes::wait_idle(Instant until) {
  std::unique_lock lock{mutex_};
  return idle_.wait_until(lock, until, [this] { return inbox_.empty() && !pending_; });
}

}  // namespace easyretry::engine
