#pragma once
// When a part of the engine runs next: a Step says when it wants to run, a Wakeup makes it run earlier.

#include <condition_variable>
#include <mutex>

#include <easyretry/time.h>

namespace easyretry::engine {

// The result of one step of a part: whether it did anything, and when it wants the next step unless it is woken up.
struct Step {
  bool worked = false;
  Instant wake = Instant::max();

  static Step again() { return {true, Instant::min()}; }
};

// Ends a wait early. A notification while no thread waits is remembered, so none is lost. If several threads wait, one
// of them wakes up. Thread-safe.
class Wakeup {
 public:
  void notify() {
    {
      const std::lock_guard lock{mutex_};
      if (notified_) return;
      notified_ = true;
    }
    condition_.notify_one();
  }

  // All waits end, and later ones return at once.
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

  // Returns at `until` or when notified, whichever is first; Instant::max() waits for a notification only.
  void wait_until(Instant until) {
    const auto ends = [this] { return notified_ || closed_; };
    std::unique_lock lock{mutex_};
    if (until == Instant::max()) {
      condition_.wait(lock, ends);
    } else {
      condition_.wait_until(lock, until, ends);
    }
    notified_ = false;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable condition_;
  bool notified_ = false;
  bool closed_ = false;
};

}  // namespace easyretry::engine
