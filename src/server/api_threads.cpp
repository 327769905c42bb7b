#include "server/api_threads.h"

#include <pthread.h>

namespace easyretry::server {

ApiThreads::ApiThreads(std::size_t threads, std::size_t most_waiting) : most_waiting_(most_waiting) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

ApiThreads::~ApiThreads() {
  {
    const std::lock_guard lock{mutex_};
    closing_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool ApiThreads::put(std::function<void()> work) {
  {
    const std::lock_guard lock{mutex_};
    if (waiting_.size() >= most_waiting_) return false;
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

void ApiThreads::put_anyway(std::function<void()> work) {
  {
    const std::lock_guard lock{mutex_};
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void ApiThreads::work() {
  pthread_setname_np(pthread_self(), "er-api");
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    next();
    lock.lock();
  }
}

}  // namespace easyretry::server
