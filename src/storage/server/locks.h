#pragma once
// Rows that other transactions hold.

#include <atomic>
#include <chrono>

namespace easyretry::storage::server {

// What a transaction does about them.
enum class Locks {
  waited_for,  // waits as long as the server does, and repeats that, up to the patience
  polled,      // waits a moment; then looks again and again, without keeping a connection meanwhile, up to the patience
  told,        // waits a moment; then `conflict`
  told_at_once,  // `conflict`
};

// Remembers for a while that a locked row was met. Meanwhile it is better to look before every change than to wait and
// then to begin again. Safe to use from any thread.
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

}  // namespace easyretry::storage::server
