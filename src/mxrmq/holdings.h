#pragma once
// What this worker has in its hands: who is to be told when a lease is lost, and whose leases are to be renewed. Safe
// to use from any thread.

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "mxrmq/verbs.h"

namespace easyretry::mxrmq {

class Holdings {
 public:
  struct Held {
    Hold hold;
    std::string topic;
  };

  std::stop_token add(const Hold& hold, const std::string& topic) {
    const std::lock_guard lock{mutex_};
    Entry& entry = held_[hold.token + hold.id];
    entry = {{hold, topic}, std::stop_source{}};
    return entry.stop.get_token();
  }
  void remove(const Hold& hold) {
    {
      const std::lock_guard lock{mutex_};
      held_.erase(hold.token + hold.id);
    }
    changed_.notify_all();
  }
  // Somebody else has it: its handler may stop, and nothing is renewed any more.
  void lost(const Hold& hold) {
    const std::lock_guard lock{mutex_};
    const auto found = held_.find(hold.token + hold.id);
    if (found == held_.end()) return;
    found->second.stop.request_stop();
    found->second.lost = true;
  }

  std::vector<Held> all() const {
    const std::lock_guard lock{mutex_};
    std::vector<Held> all;
    for (const auto& [name, entry] : held_) {
      if (!entry.lost) all.push_back(entry.held);
    }
    return all;
  }
  // False: not within that time.
  bool wait_until_empty(Millis patience) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, patience, [this] { return held_.empty(); });
  }

 private:
  struct Entry {
    Held held;
    std::stop_source stop{std::nostopstate};
    bool lost = false;
  };

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<std::string, Entry> held_;
};

}  // namespace easyretry::mxrmq
