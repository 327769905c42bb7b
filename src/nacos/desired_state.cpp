#include "nacos/desired_state.h"

#include <algorithm>

namespace easyretry::nacos {

DesiredState::Ticket DesiredState::set(const Key& key, Message on, Message off) {
  const std::lock_guard lock{mutex_};
  entries_[key] = {++last_ticket_, true, std::move(on), std::move(off)};
  changed_.notify_all();
  return last_ticket_;
}

DesiredState::Ticket DesiredState::withdraw(const Key& key) {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.refused) return 0;
  Entry& entry = found->second;
  entry.ticket = ++last_ticket_;
  entry.wanted = entry.confirmed = false;
  entry.trouble.reset();
  entry.not_before = Instant::min();
  changed_.notify_all();
  return entry.ticket;
}

// An entry that is gone or has changed was confirmed or replaced; either way there is nothing left to wait for.
Result<void> DesiredState::wait(const Key& key, Ticket ticket, Millis timeout) {
  std::unique_lock lock{mutex_};
  const auto decided = [&] {
    const Entry* entry = find(key, ticket);
    return entry == nullptr || entry->confirmed || entry->refused;
  };
  changed_.wait_for(lock, timeout, decided);
  const Entry* entry = find(key, ticket);
  if (entry == nullptr) return {};
  return entry->standing("not confirmed within " + std::to_string(timeout.count()) + " ms");
}

Result<void> DesiredState::standing(const Key& key) const {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find(key);
  if (found == entries_.end()) return {};
  return found->second.standing("not confirmed yet");
}

Result<void> DesiredState::Entry::standing(const std::string& not_yet) const {
  if (confirmed) return {};
  if (refused) return tl::make_unexpected(*trouble);
  const std::string why = trouble ? "; last error: " + to_string(*trouble) : "";
  return fail(Errc::in_doubt, "nacos." + (wanted ? on.type : off.type), not_yet + "; it will be retried" + why);
}

std::vector<DesiredState::Pending> DesiredState::due(Instant now) const {
  const std::lock_guard lock{mutex_};
  std::vector<Pending> result;
  for (const auto& [key, entry] : entries_) {
    if (entry.open() && entry.not_before <= now)
      result.push_back({key, entry.ticket, entry.wanted ? entry.on : entry.off});
  }
  return result;
}

Instant DesiredState::next_due() const {
  const std::lock_guard lock{mutex_};
  Instant next = Instant::max();
  for (const auto& [key, entry] : entries_) {
    if (entry.open()) next = std::min(next, entry.not_before);
  }
  return next;
}

std::size_t DesiredState::unconfirmed() const {
  const std::lock_guard lock{mutex_};
  return static_cast<std::size_t>(
      std::count_if(entries_.begin(), entries_.end(), [](const auto& one) { return one.second.open(); }));
}

void DesiredState::confirm(const Pending& done) {
  const std::lock_guard lock{mutex_};
  Entry* entry = find(done.key, done.ticket);
  if (entry == nullptr) return;
  entry->confirmed = true;
  entry->trouble.reset();
  if (!entry->wanted) entries_.erase(done.key);
  changed_.notify_all();
}

void DesiredState::refuse(const Pending& refused, Error error) {
  const std::lock_guard lock{mutex_};
  Entry* entry = find(refused.key, refused.ticket);
  if (entry == nullptr) return;
  entry->refused = true;
  entry->trouble = std::move(error);
  changed_.notify_all();
}

void DesiredState::postpone(const Pending& failed, Error error, Instant until) {
  const std::lock_guard lock{mutex_};
  Entry* entry = find(failed.key, failed.ticket);
  if (entry == nullptr) return;
  entry->trouble = std::move(error);
  entry->not_before = until;
}

void DesiredState::doubt(const Key& key) {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find(key);
  if (found == entries_.end() || !found->second.wanted) return;
  found->second.confirmed = false;
  found->second.not_before = Instant::min();
}

std::vector<DesiredState::Key> DesiredState::confirmed() const {
  const std::lock_guard lock{mutex_};
  std::vector<Key> keys;
  for (const auto& [key, entry] : entries_) {
    if (entry.wanted && entry.confirmed) keys.push_back(key);
  }
  return keys;
}

void DesiredState::forget_confirmations() {
  const std::lock_guard lock{mutex_};
  std::erase_if(entries_, [](const auto& entry) { return !entry.second.wanted; });
  for (auto& [key, entry] : entries_) {
    entry.confirmed = false;
    entry.not_before = Instant::min();
  }
  changed_.notify_all();
}

DesiredState::Entry* DesiredState::find(const Key& key, Ticket ticket) {
  const auto found = entries_.find(key);
  return found != entries_.end() && found->second.ticket == ticket ? &found->second : nullptr;
}

}  // namespace easyretry::nacos
