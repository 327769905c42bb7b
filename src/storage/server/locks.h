#pragma once
// How to treat rows that other transactions hold.

#include <atomic>
#include <chrono>

namespace easyretry::storage::server {

enum class Locks {
  waited_for,    // wait as long as the server does, several times, as long as the caller's patience lasts
  polled,        // wait a moment; then try again and again, without keeping a connection meanwhile
  told,          // wait a moment; then answer `conflict`
  told_at_once,  // answer `conflict`
};

// Remembers for a while that a locked row was found. During that time it is better to look for locks before every
// change than to run into one and start again. Safe to use from any thread.
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
