#pragma once
// Threads for what has to wait for the store. Bounded: what does not fit is refused, not piled up.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace easyretry::server {

class ApiThreads {
 public:
  ApiThreads(std::size_t threads, std::size_t most_waiting);
  ~ApiThreads();  // after all that was put has been done
  ApiThreads(const ApiThreads&) = delete;
  ApiThreads& operator=(const ApiThreads&) = delete;

  // False: too much is waiting. `work` must not throw.
  bool put(std::function<void()> work);
  // What must be done however much is waiting, because it was begun already.
  void put_anyway(std::function<void()> work);

 private:
  void work();

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_
  std::deque<std::function<void()>> waiting_;
  bool closing_ = false;

  std::vector<std::thread> threads_;
};

}  // namespace easyretry::server
