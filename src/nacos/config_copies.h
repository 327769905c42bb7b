#pragma once
// The configurations that are listened to, as they were last read, and who is to be told. Safe to use from any thread.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nacos/config_messages.h"
#include "nacos/courier.h"

namespace easyretry::nacos {

class ConfigCopies {
 public:
  using Listener = std::function<void(const std::optional<std::string>&)>;

  explicit ConfigCopies(Courier& courier) : courier_(courier) {}

  // The listener is told at once of what is known already.
  Courier::ListenerId add(const ConfigKey& key, Listener listener);
  // True: it was the last of its key.
  bool remove(const ConfigKey& key, Courier::ListenerId id);

  std::vector<HeldConfig> held() const;

  // To be read again: something may have changed. Forgotten by take_stale(), so that what changes during the reading
  // makes it stale again.
  void mark_stale(const ConfigKey& key);
  std::vector<ConfigKey> take_stale();
  bool any_stale() const;

  void update(const ConfigKey& key, const ConfigContent& content);

 private:
  struct Entry {
    std::optional<ConfigContent> content{};  // none: not read yet
    bool stale = true;
    std::map<Courier::ListenerId, Listener> listeners{};
  };

  void tell(Courier::ListenerId id, const Listener& listener, const ConfigContent& content);

  Courier& courier_;
  mutable std::mutex mutex_;
  // Guarded by mutex_
  Courier::ListenerId last_id_ = 0;
  std::map<ConfigKey, Entry> entries_;
};

}  // namespace easyretry::nacos
