#include "http/body_stream.h"

#include <utility>

namespace easyretry::http {

bool BodyStream::write(std::string_view text) {
  std::unique_lock lock{mutex_};
  if (ended_) return false;
  if (unsent_.size() + text.size() > options_.most_unsent) {
    ended_ = true;
    unsent_.clear();
  } else {
    unsent_.append(text);
  }
  const bool taken = !ended_;
  tell(std::move(lock));
  return taken;
}

void BodyStream::end() {
  std::unique_lock lock{mutex_};
  ended_ = true;
  tell(std::move(lock));
}

bool BodyStream::ended() const {
  const std::lock_guard lock{mutex_};
  return ended_;
}

void BodyStream::open(std::function<void()> news) {
  std::unique_lock lock{mutex_};
  news_ = std::move(news);
  tell(std::move(lock));
}

std::string BodyStream::take(bool& last) {
  const std::lock_guard lock{mutex_};
  last = ended_;
  return std::exchange(unsent_, {});
}

void BodyStream::close() {
  const std::lock_guard lock{mutex_};
  ended_ = true;
  unsent_.clear();
  news_ = nullptr;
}

// Without the lock: the callback may call take().
void BodyStream::tell(std::unique_lock<std::mutex> lock) {
  const auto news = news_;
  lock.unlock();
  if (news) news();
}

}  // namespace easyretry::http
