#include "webhook/mailbox.h"

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

namespace easyretry::webhook {

Mailbox::Mailbox() : bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (bell_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Mailbox::~Mailbox() {
  ::close(bell_);
}

void Mailbox::post(std::function<void()> errand) {
  const std::lock_guard lock{mutex_};
  if (closed_) return;
  errands_.push_back(std::move(errand));
  if (errands_.size() == 1) ::eventfd_write(bell_, 1);
}

std::vector<std::function<void()>> Mailbox::take() {
  const std::lock_guard lock{mutex_};
  eventfd_t ignored = 0;
  ::eventfd_read(bell_, &ignored);
  return std::exchange(errands_, {});
}

void Mailbox::close() {
  std::vector<std::function<void()>> dropped;  // outside the lock: what an errand holds may post when it goes
  const std::lock_guard lock{mutex_};
  closed_ = true;
  dropped.swap(errands_);
}

}  // namespace easyretry::webhook
