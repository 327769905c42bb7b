#include "webhook/work_queue.h"

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

namespace easyretry::webhook {

WorkQueue::WorkQueue() : wakeup_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (wakeup_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

WorkQueue::~WorkQueue() {
  ::close(wakeup_);
}

void WorkQueue::post(std::function<void()> function) {
  const std::lock_guard lock{mutex_};
  if (closed_) return;
  functions_.push_back(std::move(function));
  if (functions_.size() == 1) ::eventfd_write(wakeup_, 1);
}

std::vector<std::function<void()>> WorkQueue::take() {
  const std::lock_guard lock{mutex_};
  eventfd_t ignored = 0;
  ::eventfd_read(wakeup_, &ignored);
  return std::exchange(functions_, {});
}

void WorkQueue::close() {
  std::vector<std::function<void()>>
      dropped;  // destroyed outside the lock: what a function holds may post from its destructor
  const std::lock_guard lock{mutex_};
  closed_ = true;
  dropped.swap(functions_);
}

}  // namespace easyretry::webhook
