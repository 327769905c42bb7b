#pragma once
// Errands for one thread, left by others. Who leaves one never waits for it to be run.

#include <functional>
#include <mutex>
#include <vector>

namespace easyretry::webhook {

class Mailbox {
 public:
  Mailbox();  // throws std::system_error where there are no more file descriptors
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // From any thread. Dropped after close().
  void post(std::function<void()> errand);
  // All that there are, in the order in which they came.
  std::vector<std::function<void()>> take();
  void close();

  // Readable while there is something to take.
  int descriptor() const { return bell_; }

 private:
  const int bell_;
  std::mutex mutex_;
  // Guarded by mutex_
  bool closed_ = false;
  std::vector<std::function<void()>> errands_;
};

}  // namespace easyretry::webhook
