#pragma once
// Remembers for a while that a row was met that somebody else holds. Meanwhile it is better to look before every change
// than to wait and then to begin again. Safe to use from any thread.

#include <atomic>
#include <chrono>

namespace easyretry::storage::sql {

class Caution {
 public:
  using Steady = std::chrono::steady_clock;

  bool advised() const {
    const Steady::time_point until = until_.load(std::memory_order_relaxed);
    return until != Steady::time_point{} && Steady::now() < until;
  }
  void advise() { until_.store(Steady::now() + kAWhile, std::memory_order_relaxed); }

 private:
  static constexpr std::chrono::seconds kAWhile{2};

  std::atomic<Steady::time_point> until_{};
};

}  // namespace easyretry::storage::sql
