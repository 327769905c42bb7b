#pragma once
// So many messages in any minute, and no more. One thread.

#include <cstddef>
#include <deque>

#include <easyretry/time.h>

namespace easyretry::alert {

class Limit {
 public:
  explicit Limit(int per_minute) : most_(static_cast<std::size_t>(per_minute)) {}

  // When the next one may go; now or earlier: at once.
  Instant free_at() const { return taken_.size() < most_ ? Instant::min() : taken_.front() + kMinute; }

  void take(Instant now) {
    if (taken_.size() >= most_) taken_.pop_front();
    taken_.push_back(now);
  }

 private:
  static constexpr Millis kMinute{60'000};

  const std::size_t most_;
  std::deque<Instant> taken_;  // the last ones, the oldest first
};

}  // namespace easyretry::alert
