#pragma once
// An estimate of the store's time that needs no request. Thread-safe.
//
// Each reply has the store's time at some moment between request and reply, cut to a millisecond. So at `received` the
// store's time was at least `shown`, and at `sent` it was less than `shown` + 1 ms. The estimate is the best lower
// bound seen so far: never early, so that no claim is refused, and late by the fastest round trip at most. A reply that
// contradicts it (the store's clock was set back, or ours runs fast) replaces it.

#include <atomic>
#include <chrono>

#include <easyretry/time.h>

namespace easyretry::engine {

class StoreTime {
 public:
  StoreTime(TimePoint now, Instant at) : offset_(offset(now, at)) {}

  void observe(TimePoint shown, Instant sent, Instant received) {
    const auto lower = offset(shown, received);
    const auto upper = offset(shown + Millis{1}, sent);
    auto current = offset_.load(std::memory_order_relaxed);
    while (lower > current || current > upper) {
      if (offset_.compare_exchange_weak(current, lower, std::memory_order_relaxed)) return;
    }
  }

  TimePoint at(Instant instant) const {
    return TimePoint{std::chrono::floor<Millis>(since_epoch(instant) + Nanos{offset_.load(std::memory_order_relaxed)})};
  }

  // When at() will reach `time`.
  Instant when(TimePoint time) const {
    if (time == TimePoint::max()) return Instant::max();
    return Instant{Nanos{time.time_since_epoch()} - Nanos{offset_.load(std::memory_order_relaxed)}};
  }

 private:
  using Nanos = std::chrono::nanoseconds;
  static Nanos since_epoch(Instant instant) { return instant.time_since_epoch(); }
  static std::int64_t offset(TimePoint time, Instant at) {
    return (Nanos{time.time_since_epoch()} - since_epoch(at)).count();
  }

  std::atomic<std::int64_t> offset_;  // store time − steady time, in nanoseconds
};

}  // namespace easyretry::engine
