#pragma once
// The keys of calls that have failed in this process and left a task, the last ones. Thread-safe.

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_set>

namespace easyretry::call {

class FailedKeys {
 public:
  void add(const std::string& key) {
    const std::lock_guard lock{mutex_};
    if (!keys_.insert(key).second) return;
    by_age_.push_back(key);
    while (by_age_.size() > kMost) {
      keys_.erase(by_age_.front());
      by_age_.pop_front();
    }
    size_ = keys_.size();
  }

  // True: it was here.
  bool forget(const std::string& key) {
    const std::lock_guard lock{mutex_};
    const bool was_here = keys_.erase(key) > 0;
    size_ = keys_.size();
    return was_here;
  }

  // Without waiting for anybody: most calls ask this and no more.
  bool empty() const { return size_ == 0; }

 private:
  static constexpr std::size_t kMost = 10'000;

  std::mutex mutex_;
  std::unordered_set<std::string> keys_;  // guarded by mutex_
  std::deque<std::string> by_age_;        // guarded by mutex_; some may be forgotten already
  std::atomic<std::size_t> size_{0};
};

}  // namespace easyretry::call
