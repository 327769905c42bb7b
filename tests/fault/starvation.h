#pragma once
// For how long, of any four seconds, threads that were ready to run had no processor. A machine that cannot run a
// process in time cannot recover a task in time either, so bounds of time grow by it. On a quiet machine it is next to
// nothing.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include <unistd.h>

#include <easyretry/time.h>

namespace easyretry::fault {

class Starvation {
 public:
  Starvation() : thread_([this](const std::stop_token& stop) { run(stop); }) {}
  // The longest so far.
  Millis longest() const { return Millis{longest_.load()}; }

 private:
  static constexpr Millis kNap{5};
  static constexpr Millis kBetweenLooks{500};
  static constexpr std::size_t kLooksBack = 8;  // 4 s: about as long as what is measured

  void run(const std::stop_token& stop) {
    using Clock = std::chrono::steady_clock;
    std::deque<Millis> looks;
    auto next_look = Clock::now();
    std::unique_lock lock{mutex_};
    while (!stop.stop_requested()) {
      const auto until = Clock::now() + kNap;
      nap_.wait_until(lock, stop, until, [] { return false; });
      const auto now = Clock::now();
      if (!stop.stop_requested()) count(std::chrono::duration_cast<Millis>(now - until));
      if (now < next_look) continue;
      next_look = now + kBetweenLooks;
      looks.push_back(waited() + stolen());
      count(looks.back() - looks.front());
      if (looks.size() > kLooksBack) looks.pop_front();
    }
  }

  void count(Millis starved) { longest_ = std::max(longest_.load(), starved.count()); }

  // For how long, so far, a thread that was ready to run had no processor. Zero if the kernel does not say.
  static Millis waited() {
    std::ifstream pressure{"/proc/pressure/cpu"};  // some avg10=0.53 avg60=13.16 avg300=18.71 total=9727764716
    std::string word;
    while (pressure >> word) {
      if (word.starts_with("total=")) return Millis{std::stoll(word.substr(6)) / 1000};
    }
    return Millis{0};
  }

  // For how long, so far, the host took away an average processor.
  static Millis stolen() {
    std::ifstream times{"/proc/stat"};  // cpu user nice system idle iowait irq softirq steal …, in ticks
    std::string word;
    for (int i = 0; i < 9; ++i) {
      if (!(times >> word)) return Millis{0};
    }
    return Millis{std::stoll(word) * 1000 / sysconf(_SC_CLK_TCK) / sysconf(_SC_NPROCESSORS_ONLN)};
  }

  std::atomic<Millis::rep> longest_{0};
  std::mutex mutex_;
  std::condition_variable_any nap_;
  std::jthread thread_;  // last: uses the others
};

}  // namespace easyretry::fault
