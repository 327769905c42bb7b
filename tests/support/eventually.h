#pragma once
// Waits for what other threads or processes will make true; the limit is for broken code only. A process that was
// stopped for a while has not waited.

#include <algorithm>
#include <chrono>
#include <thread>

namespace easyretry::test {

template <class Condition>
bool eventually(Condition condition, std::chrono::seconds limit = std::chrono::seconds{20}) {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration kLongestRound = std::chrono::seconds{5};  // no condition takes longer to be looked at
  Clock::duration waited{};
  while (true) {
    const auto begin = Clock::now();
    if (condition()) return true;
    if (waited > limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    waited += std::min(Clock::now() - begin, kLongestRound);
  }
}

}  // namespace easyretry::test
