#include "storage/postgres/wake_up.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace easyretry::storage::postgres {
namespace {

constexpr std::chrono::minutes kLongest{1};

}  // namespace

WakeUp::WakeUp() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (event_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

WakeUp::~WakeUp() {
  close(event_);
}

void WakeUp::ring() const {
  eventfd_write(event_, 1);
}

void WakeUp::wait(int socket, short events, std::chrono::steady_clock::time_point until) const {
  using std::chrono::nanoseconds;
  std::array<pollfd, 2> sources{pollfd{event_, POLLIN, 0}, pollfd{socket, events, 0}};
  const nanoseconds left = std::clamp<nanoseconds>(until - std::chrono::steady_clock::now(), nanoseconds{0}, kLongest);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
  ppoll(sources.data(), sources.size(), &time, nullptr);
  eventfd_t rung = 0;
  eventfd_read(event_, &rung);
}

}  // namespace easyretry::storage::postgres
