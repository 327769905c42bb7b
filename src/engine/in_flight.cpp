#include "engine/in_flight.h"

#include <iterator>

namespace easyretry::engine {
namespace {

std::size_t is_remote(const Run& run) {
  return run.handler->handler.remote != nullptr ? 1 : 0;
}

}  // namespace

void InFlight::add(std::span<const RunPtr> runs) {
  const std::lock_guard lock{mutex_};
  for (const RunPtr& run : runs) {
    RunPtr& held = runs_[run->record.info.id];
    if (held) remote_ -= is_remote(*held);
    held = run;
    remote_ += is_remote(*run);
    interrupt_if_cancelled(*run);
  }
}

// If the owner is notified of a cancellation, the task comes back under its id, but for its callback only.
void InFlight::interrupt_if_cancelled(Run& run) const {
  if (run.record.info.stage != Stage::run || !cancelled_.contains(run.record.info.id)) return;
  run.interrupt_with(Interrupt::cancelled);
}

void InFlight::cancelled(std::span<const TaskId> ids) {
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

void InFlight::remove(std::span<const RunPtr> runs) {
  const std::lock_guard lock{mutex_};
  for (const RunPtr& run : runs) {
    end_lent(run->ticket());
    const auto found = runs_.find(run->record.info.id);
    if (found == runs_.end() || found->second != run) continue;
    runs_.erase(found);
    remote_ -= is_remote(*run);
    if (run->held) run->held->end();
  }
  if (remote_ == 0) all_here_.notify_all();
}

void InFlight::lend(std::span<const RunPtr> runs, Instant until) {
  const std::lock_guard lock{mutex_};
  for (const RunPtr& run : runs) {
    const auto found = runs_.find(run->record.info.id);
    if (found == runs_.end() || found->second != run) continue;
    if (run->held) lent_[run->record.info.id] = {run->record.info.version, run->held, until};
    runs_.erase(found);
    remote_ -= is_remote(*run);
  }
  if (remote_ == 0) all_here_.notify_all();
}

void InFlight::prolong(const task::Ticket& ticket, Instant until) {
  const std::lock_guard lock{mutex_};
  const auto found = lent_.find(ticket.id);
  if (found != lent_.end() && found->second.version == ticket.version) found->second.until = until;
}

std::vector<task::Ticket> InFlight::overdue(Instant now) const {
  const std::lock_guard lock{mutex_};
  std::vector<task::Ticket> over;
  for (const auto& [id, lent] : lent_) {
    if (lent.until <= now) over.push_back({id, lent.version});
  }
  return over;
}

void InFlight::forget(const task::Ticket& ticket) {
  const std::lock_guard lock{mutex_};
  end_lent(ticket);
}

void InFlight::end_lent(const task::Ticket& ticket) {
  const auto found = lent_.find(ticket.id);
  if (found == lent_.end() || found->second.version != ticket.version) return;
  found->second.held->end();
  lent_.erase(found);
}

RunPtr InFlight::find(TaskId id) const {
  const std::lock_guard lock{mutex_};
  const auto found = runs_.find(id);
  return found == runs_.end() ? nullptr : found->second;
}

std::vector<RunPtr> InFlight::all() const {
  const std::lock_guard lock{mutex_};
  std::vector<RunPtr> all;
  all.reserve(runs_.size());
  for (const auto& [id, run] : runs_) all.push_back(run);
  return all;
}

std::size_t InFlight::here() const {
  const std::lock_guard lock{mutex_};
  return runs_.size() - remote_;
}

std::size_t InFlight::size() const {
  const std::lock_guard lock{mutex_};
  return runs_.size();
}

bool InFlight::wait_none_remote(Instant until) {
  std::unique_lock lock{mutex_};
  return all_here_.wait_until(lock, until, [this] { return remote_ == 0; });
}

void Outcomes::put(RunPtr run, task::Settlement settlement) {
  if (run->settled) return run->settled(std::move(settlement));
  {
    const std::lock_guard lock{mutex_};
    inbox_.push_back({std::move(run), std::move(settlement)});
    if (inbox_.size() != 1 && inbox_.size() != batch_) return;
  }
  wakeup.notify();
}

void Outcomes::take(std::vector<Settled>& pending) {
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
