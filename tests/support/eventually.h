#pragma once
// Waits for what other threads or processes will make true; the limit is for broken code only. A process that was
// stopped for a while has not waited.

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

namespace easyretry::test {

// How long it took; nothing if it has not come true.
template <class Condition>
std::optional<std::chrono::milliseconds> time_until(Condition condition,
                                                    std::chrono::seconds limit = std::chrono::seconds{20}) {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration kLongestRound = std::chrono::seconds{5};  // no condition takes longer to be looked at
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

}  // namespace easyretry::test
