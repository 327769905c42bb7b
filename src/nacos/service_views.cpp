#include "nacos/service_views.h"

#include <algorithm>

namespace easyretry::nacos {
namespace {

bool outdated(const ServiceInfo& info, const ServiceInfo& newest) {
  if (info.view.connection != newest.view.connection) return info.view.connection < newest.view.connection;
  return info.as_of < newest.as_of;
}

bool same(const ServiceView& a, const ServiceView& b) {
  return a.connection == b.connection && a.protected_by_threshold == b.protected_by_threshold &&
         a.instances == b.instances;
}

}  // namespace

Courier::ListenerId ServiceViews::add(const ServiceName& service, std::string cluster, OnView listener) {
  const std::lock_guard lock{mutex_};
  Entry& entry = entries_[service];
  const auto id = ++last_id_;
  const auto added = entry.listeners.emplace(id, Listener{std::move(cluster), std::move(listener)}).first;
  if (entry.newest) tell(id, added->second, entry.newest->view);
  return id;
}

bool ServiceViews::remove(const ServiceName& service, Courier::ListenerId id) {
  bool last = false;
  {
    const std::lock_guard lock{mutex_};
    Entry& entry = entries_[service];
    entry.listeners.erase(id);
    last = entry.listeners.empty();
    if (last) entries_.erase(service);
  }
  courier_.forget(id);  // not under the mutex: it waits for a listener, which may want it
  return last;
}

bool ServiceViews::has(const ServiceName& service) const {
  const std::lock_guard lock{mutex_};
  return entries_.contains(service);
}

std::vector<ServiceName> ServiceViews::services() const {
  const std::lock_guard lock{mutex_};
  std::vector<ServiceName> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

std::set<std::string> ServiceViews::clusters(const ServiceName& service) const {
  const std::lock_guard lock{mutex_};
  std::set<std::string> names;
  const auto found = entries_.find(service);
  if (found == entries_.end()) return names;
  for (const auto& [id, listener] : found->second.listeners) names.insert(listener.cluster);
  return names;
}

void ServiceViews::update(ServiceInfo info, std::uint64_t connection) {
  info.view.connection = connection;
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find(info.view.service);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (entry.newest && outdated(info, *entry.newest)) return;
  const bool news = !entry.newest || !same(info.view, entry.newest->view);
  entry.newest = std::move(info);
  if (!news) return;
  for (const auto& [id, listener] : entry.listeners) tell(id, listener, entry.newest->view);
}

void ServiceViews::tell(Courier::ListenerId id, const Listener& listener, const ServiceView& view) {
  ServiceView filtered = view;
  if (!listener.cluster.empty()) {
    std::erase_if(filtered.instances, [&](const Instance& instance) { return instance.cluster != listener.cluster; });
  }
  courier_.deliver(id, [call = listener.call, filtered = std::move(filtered)] { call(filtered); });
}

}  // namespace easyretry::nacos
