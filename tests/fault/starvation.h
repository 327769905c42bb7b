#pragma once
// How late a thread that only sleeps is woken while something is measured: a machine that is too busy for that is too
// busy for what is measured, too.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <easyretry/time.h>

namespace easyretry::fault {

class Starvation {
 public:
  Starvation() : thread_([this](const std::stop_token& stop) { run(stop); }) {}
  // The latest so far.
  Millis latest() const { return Millis{latest_.load()}; }

 private:
  void run(const std::stop_token& stop) {
    constexpr Millis kNap{5};
    std::unique_lock lock{mutex_};
    while (!stop.stop_requested()) {
      const auto until = std::chrono::steady_clock::now() + kNap;
      nap_.wait_until(lock, stop, until, [] { return false; });
      const auto late = std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - until);
      if (!stop.stop_requested()) latest_ = std::max<Millis::rep>(latest_, late.count());
    }
  }

  std::atomic<Millis::rep> latest_{0};
  std::mutex mutex_;
  std::condition_variable_any nap_;
  std::jthread thread_;  // last: uses the others
};

}  // namespace easyretry::fault
