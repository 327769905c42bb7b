#pragma once
// A clock of pauses that moves only by its pauses and when it is advanced. It keeps what was asked of it.

#include <chrono>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "base/pause_clock.h"

namespace easyretry::test {

// Thread-safe.
class ManualPauses final : public base::PauseClock {
 public:
  using Time = std::chrono::nanoseconds;

  Instant now() const override {
    const std::lock_guard lock{mutex_};
    return now_;
  }
  void sleep(Time time) const override {
    {
      const std::lock_guard lock{mutex_};
      now_ += time;
      taken_.push_back(time);
    }
    during();
  }

  void advance(Time time) {
    const std::lock_guard lock{mutex_};
    now_ += time;
  }
  // The pauses since this was last called, in their order.
  std::vector<Time> taken() {
    const std::lock_guard lock{mutex_};
    return std::exchange(taken_, {});
  }

  std::function<void()> during = [] {};  // what others do while a thread pauses

 private:
  mutable std::mutex mutex_;  // guards the members below
  mutable Instant now_{std::chrono::hours{1}};
  mutable std::vector<Time> taken_;
};

}  // namespace easyretry::test
