#pragma once
// Waits for what other threads or processes will make true; the limit is for broken code only.

#include <chrono>
#include <thread>

namespace easyretry::test {

template <class Condition>
bool eventually(Condition condition, std::chrono::seconds limit = std::chrono::seconds{20}) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return true;
}

}  // namespace easyretry::test
