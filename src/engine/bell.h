#pragma once
// Wakes one part of the engine. A ring while nobody waits is remembered, so none is missed.

#include <condition_variable>
#include <mutex>

#include <easyretry/time.h>

namespace easyretry::engine {

class Bell {
 public:
  void ring() {
    {
      const std::lock_guard lock{mutex_};
      if (rung_) return;
      rung_ = true;
    }
    condition_.notify_one();
  }

  // Returns at `until` or when rung, whichever is first; Instant::max() waits for a ring alone.
  void wait_until(Instant until) {
    std::unique_lock lock{mutex_};
    if (until == Instant::max()) {
      condition_.wait(lock, [this] { return rung_; });
    } else {
      condition_.wait_until(lock, until, [this] { return rung_; });
    }
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool rung_ = false;
};

}  // namespace easyretry::engine
