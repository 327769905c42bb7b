#pragma once
// The last keys of calls that failed in this process and left a task. While a handler has any, none of its calls may
// bypass the engine. Thread-safe.

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <easyretry/detail/erased_handler.h>

namespace easyretry::call {

class FailedKeys {
 public:
  void add(const std::string& key, const std::shared_ptr<detail::CallGate>& gate) {
    const std::lock_guard lock{mutex_};
    if (!gates_.emplace(key, gate).second) return;
    ++gate->left_behind;
    by_age_.push_back(key);
    while (by_age_.size() > kMost) {
      erase(by_age_.front());
      by_age_.pop_front();
    }
  }

  // True: it was here.
  bool forget(const std::string& key) {
    const std::lock_guard lock{mutex_};
    return erase(key);
  }

 private:
  static constexpr std::size_t kMost = 10'000;

  bool erase(const std::string& key) {
    const auto found = gates_.find(key);
    if (found == gates_.end()) return false;
    --found->second->left_behind;
    gates_.erase(found);
    return true;
  }

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<detail::CallGate>> gates_;  // by key; guarded by mutex_
  std::deque<std::string> by_age_;  // guarded by mutex_; some may be forgotten already
};

}  // namespace easyretry::call
