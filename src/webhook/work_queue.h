#pragma once
// Functions that other threads post to one thread. Posting never waits for a function to run.

#include <functional>
#include <mutex>
#include <vector>

namespace easyretry::webhook {

class WorkQueue {
 public:
  WorkQueue();  // throws std::system_error if file descriptors have run out
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // From any thread. After close(), the function is dropped.
  void post(std::function<void()> function);
  // All posted functions, in order.
  std::vector<std::function<void()>> take();
  void close();

  // Readable while there is something to take.
  int descriptor() const { return wakeup_; }

 private:
  const int wakeup_;
  std::mutex mutex_;
  // Guarded by mutex_
  bool closed_ = false;
  std::vector<std::function<void()>> functions_;
};

}  // namespace easyretry::webhook
