#include "nacos/wishes.h"

#include <algorithm>

namespace easyretry::nacos {

Wishes::Ticket Wishes::want(const Key& key, Message on, Message off) {
  const std::lock_guard lock{mutex_};
  wishes_[key] = {++last_ticket_, true, std::move(on), std::move(off)};
  changed_.notify_all();
  return last_ticket_;
}

Wishes::Ticket Wishes::no_longer(const Key& key) {
  const std::lock_guard lock{mutex_};
  const auto found = wishes_.find(key);
  if (found == wishes_.end() || found->second.refused) return 0;
  Wish& wish = found->second;
  wish.ticket = ++last_ticket_;
  wish.wanted = wish.confirmed = false;
  wish.trouble.reset();
  wish.not_before = Instant::min();
  changed_.notify_all();
  return wish.ticket;
}

// A wish that is gone, or has changed, was fulfilled or is out of date; either way there is nothing left to wait for.
Result<void> Wishes::wait(const Key& key, Ticket ticket, Millis timeout) {
  std::unique_lock lock{mutex_};
  const auto decided = [&] {
    const Wish* wish = find(key, ticket);
    return wish == nullptr || wish->confirmed || wish->refused;
  };
  changed_.wait_for(lock, timeout, decided);
  const Wish* wish = find(key, ticket);
  if (wish == nullptr) return {};
  return wish->standing("not confirmed within " + std::to_string(timeout.count()) + " ms");
}

Result<void> Wishes::standing(const Key& key) const {
  const std::lock_guard lock{mutex_};
  const auto found = wishes_.find(key);
  if (found == wishes_.end()) return {};
  return found->second.standing("not confirmed yet");
}

Result<void> Wishes::Wish::standing(const std::string& not_yet) const {
  if (confirmed) return {};
  if (refused) return tl::make_unexpected(*trouble);
  const std::string why = trouble ? "; last error: " + to_string(*trouble) : "";
  return fail(Errc::in_doubt, "nacos." + (wanted ? on.type : off.type), not_yet + "; it will be retried" + why);
}

std::vector<Wishes::Pending> Wishes::due(Instant now) const {
  const std::lock_guard lock{mutex_};
  std::vector<Pending> result;
  for (const auto& [key, wish] : wishes_) {
    if (wish.open() && wish.not_before <= now) result.push_back({key, wish.ticket, wish.wanted ? wish.on : wish.off});
  }
  return result;
}

Instant Wishes::next_due() const {
  const std::lock_guard lock{mutex_};
  Instant next = Instant::max();
  for (const auto& [key, wish] : wishes_) {
    if (wish.open()) next = std::min(next, wish.not_before);
  }
  return next;
}

std::size_t Wishes::unconfirmed() const {
  const std::lock_guard lock{mutex_};
  return static_cast<std::size_t>(
      std::count_if(wishes_.begin(), wishes_.end(), [](const auto& entry) { return entry.second.open(); }));
}

void Wishes::confirm(const Pending& done) {
  const std::lock_guard lock{mutex_};
  Wish* wish = find(done.key, done.ticket);
  if (wish == nullptr) return;
  wish->confirmed = true;
  wish->trouble.reset();
  if (!wish->wanted) wishes_.erase(done.key);
  changed_.notify_all();
}

void Wishes::refuse(const Pending& refused, Error error) {
  const std::lock_guard lock{mutex_};
  Wish* wish = find(refused.key, refused.ticket);
  if (wish == nullptr) return;
  wish->refused = true;
  wish->trouble = std::move(error);
  changed_.notify_all();
}

void Wishes::postpone(const Pending& failed, Error error, Instant until) {
  const std::lock_guard lock{mutex_};
  Wish* wish = find(failed.key, failed.ticket);
  if (wish == nullptr) return;
  wish->trouble = std::move(error);
  wish->not_before = until;
}

void Wishes::doubt(const Key& key) {
  const std::lock_guard lock{mutex_};
  const auto found = wishes_.find(key);
  if (found == wishes_.end() || !found->second.wanted) return;
  found->second.confirmed = false;
  found->second.not_before = Instant::min();
}

std::vector<Wishes::Key> Wishes::fulfilled() const {
  const std::lock_guard lock{mutex_};
  std::vector<Key> keys;
  for (const auto& [key, wish] : wishes_) {
    if (wish.wanted && wish.confirmed) keys.push_back(key);
  }
  return keys;
}

void Wishes::connection_is_new() {
  const std::lock_guard lock{mutex_};
  std::erase_if(wishes_, [](const auto& entry) { return !entry.second.wanted; });
  for (auto& [key, wish] : wishes_) {
    wish.confirmed = false;
    wish.not_before = Instant::min();
  }
  changed_.notify_all();
}

Wishes::Wish* Wishes::find(const Key& key, Ticket ticket) {
  const auto found = wishes_.find(key);
  return found != wishes_.end() && found->second.ticket == ticket ? &found->second : nullptr;
}

}  // namespace easyretry::nacos
