#include "nacos/config_copies.h"

#include <algorithm>
#include <utility>

namespace easyretry::nacos {

Courier::ListenerId ConfigCopies::add(const ConfigKey& key, Listener listener) {
  const std::lock_guard lock{mutex_};
  Entry& entry = entries_[key];
  const auto id = ++last_id_;
  const auto added = entry.listeners.emplace(id, std::move(listener)).first;
  if (entry.content) tell(id, added->second, *entry.content);
  return id;
}

bool ConfigCopies::remove(const ConfigKey& key, Courier::ListenerId id) {
  bool last = false;
  {
    const std::lock_guard lock{mutex_};
    Entry& entry = entries_[key];
    entry.listeners.erase(id);
    last = entry.listeners.empty();
    if (last) entries_.erase(key);
  }
  courier_.forget(id);  // not under the mutex: it waits for a listener, which may want it
  return last;
}

std::vector<HeldConfig> ConfigCopies::held() const {
  const std::lock_guard lock{mutex_};
  std::vector<HeldConfig> held;
  for (const auto& [key, entry] : entries_) held.push_back({key, entry.content ? entry.content->md5 : ""});
  return held;
}

void ConfigCopies::mark_stale(const ConfigKey& key) {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find(key);
  if (found != entries_.end()) found->second.stale = true;
}

std::vector<ConfigKey> ConfigCopies::take_stale() {
  const std::lock_guard lock{mutex_};
  std::vector<ConfigKey> keys;
  for (auto& [key, entry] : entries_) {
    if (std::exchange(entry.stale, false)) keys.push_back(key);
  }
  return keys;
}

bool ConfigCopies::any_stale() const {
  const std::lock_guard lock{mutex_};
  return std::any_of(entries_.begin(), entries_.end(), [](const auto& entry) { return entry.second.stale; });
}

void ConfigCopies::update(const ConfigKey& key, const ConfigContent& content) {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  const bool news = !entry.content || entry.content->text != content.text;
  entry.content = content;
  if (!news) return;
  for (const auto& [id, listener] : entry.listeners) tell(id, listener, content);
}

void ConfigCopies::tell(Courier::ListenerId id, const Listener& listener, const ConfigContent& content) {
  courier_.deliver(id, [listener, text = content.text] { listener(text); });
}

}  // namespace easyretry::nacos
