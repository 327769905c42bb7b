#pragma once
// Wakes one part of the engine. A ring while nobody waits is remembered, so none is missed. Where several threads wait,
// a ring wakes one of them.

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

  // Nobody waits from now on.
  void close() {
    {
      const std::lock_guard lock{mutex_};
      closed_ = true;
    }
    condition_.notify_all();
  }

  bool closed() const {
    const std::lock_guard lock{mutex_};
    return closed_;
  }

  // Returns at `until` or when rung, whichever is first; Instant::max() waits for a ring alone.
  void wait_until(Instant until) {
    const auto called = [this] { return rung_ || closed_; };
    std::unique_lock lock{mutex_};
    if (until == Instant::max()) {
      condition_.wait(lock, called);
    } else {
      condition_.wait_until(lock, until, called);
    }
    rung_ = false;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable condition_;
  bool rung_ = false;
  bool closed_ = false;
};

}  // namespace easyretry::engine
