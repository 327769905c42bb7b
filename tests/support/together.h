#pragma once
// Threads that start at once, for races.

#include <future>
#include <latch>
#include <type_traits>
#include <vector>

namespace easyretry::test {

// Runs work(0) … work(count - 1) on a thread each and returns their results in that order. Rethrows an exception of
// one of them.
template <class Work>
auto together(int count, Work work) {
  using Answer = std::invoke_result_t<Work, int>;
  std::latch start{count};
  std::vector<std::future<Answer>> running;
  for (int i = 0; i < count; ++i) {
    running.push_back(std::async(std::launch::async, [&, i] {
      start.arrive_and_wait();
      return work(i);
    }));
  }
  for (auto& one : running) one.wait();
  std::vector<Answer> answers;
  for (auto& one : running) answers.push_back(one.get());
  return answers;
}

}  // namespace easyretry::test
