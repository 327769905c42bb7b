#pragma once
// The newest list of every subscribed service, and who is to be told of it. Safe to use from any thread.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nacos/courier.h"
#include "nacos/naming_messages.h"

namespace easyretry::nacos {

class ServiceViews {
 public:
  explicit ServiceViews(Courier& courier) : courier_(courier) {}

  // The listener is told at once of a list that is there already. `cluster` empty: of all.
  Courier::ListenerId add(const ServiceName& service, std::string cluster, OnView listener);
  // True: it was the last of its service.
  bool remove(const ServiceName& service, Courier::ListenerId id);
  bool has(const ServiceName& service) const;
  std::vector<ServiceName> services() const;
  std::set<std::string> clusters(const ServiceName& service) const;  // that listeners want

  // A list older than the last of the same connection, or of an older connection, is dropped; so is one that nobody
  // asked for.
  void update(ServiceInfo info, std::uint64_t connection);

 private:
  struct Listener {
    std::string cluster;
    OnView call;
  };
  struct Entry {
    std::optional<ServiceInfo> newest{};
    std::map<Courier::ListenerId, Listener> listeners{};
  };

  void tell(Courier::ListenerId id, const Listener& listener, const ServiceView& view);

  Courier& courier_;
  mutable std::mutex mutex_;
  // Guarded by mutex_
  Courier::ListenerId last_id_ = 0;
  std::map<ServiceName, Entry> entries_;
};

}  // namespace easyretry::nacos
