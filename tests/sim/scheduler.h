#pragma once
// Virtual time: what happens next, and when. Time jumps from event to event; nothing waits.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "sim/dice.h"

namespace easyretry::sim {

using Time = std::chrono::nanoseconds;  // since the world began

class Scheduler {
 public:
  using Key = std::pair<Time, std::uint64_t>;

  explicit Scheduler(std::uint64_t seed) : order_(seed) {}

  Time now() const { return now_; }
  std::uint64_t events() const { return events_; }

  // Actions at the same time happen in an order that the seed decides. Never before now.
  Key at(Time when, std::function<void()> action);
  void cancel(const Key& key) { queue_.erase(key); }

  // Runs the next action. If that is later than `until`, sets the time to `until` and returns false.
  bool step(Time until);

 private:
  Dice order_;
  Time now_{0};
  std::uint64_t events_ = 0;
  std::map<Key, std::function<void()>> queue_;
};

}  // namespace easyretry::sim
