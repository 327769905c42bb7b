#pragma once
// Waits until other threads or processes make a condition true. The limit is for broken code only; time in which this
// process was stopped does not count.

#include <algorithm>
#include <chrono>
#include <latch>
#include <optional>
#include <stop_token>
#include <thread>

namespace easyretry::test {

// How long it took; nullopt if the condition has not come true.
template <class Condition>
std::optional<std::chrono::milliseconds> time_until(Condition condition,
                                                    std::chrono::seconds limit = std::chrono::seconds{20}) {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration kLongestRound = std::chrono::seconds{5};  // no condition takes longer to check
  Clock::duration waited{};
  while (true) {
    const auto begin = Clock::now();
    if (condition()) return std::chrono::duration_cast<std::chrono::milliseconds>(waited);
    if (waited > limit) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    waited += std::min(Clock::now() - begin, kLongestRound);
  }
}

template <class Condition>
bool eventually(Condition condition, std::chrono::seconds limit = std::chrono::seconds{20}) {
  return time_until(condition, limit).has_value();
}

// Runs until it is asked to stop.
inline void wait_for_stop(const std::stop_token& stop) {
  std::latch stopped{1};
  const std::stop_callback when_stopped{stop, [&] { stopped.count_down(); }};
  stopped.wait();
}

}  // namespace easyretry::test
