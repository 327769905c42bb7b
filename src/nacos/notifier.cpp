#include "nacos/notifier.h"

#include <exception>
#include <string>

namespace easyretry::nacos {

Notifier::Notifier(LogSink log) : log_(std::move(log)), thread_([this] { run(); }) {}

Notifier::~Notifier() {
  stop();
}

void Notifier::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Notifier::deliver(ListenerId listener, std::function<void()> delivery) {
  {
    const std::lock_guard lock{mutex_};
    waiting_[listener] = std::move(delivery);
  }
  changed_.notify_all();
}

void Notifier::forget(ListenerId listener) {
  std::unique_lock lock{mutex_};
  waiting_.erase(listener);
  if (std::this_thread::get_id() == thread_.get_id()) return;
  changed_.wait(lock, [&] { return running_ != listener; });
}

void Notifier::run() {
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    auto chosen = waiting_.upper_bound(last_);
    if (chosen == waiting_.end()) chosen = waiting_.begin();
    const auto next = waiting_.extract(chosen);
    running_ = last_ = next.key();
    lock.unlock();
    call(next.mapped());
    lock.lock();
    running_ = 0;
    changed_.notify_all();
  }
}

void Notifier::call(const std::function<void()>& delivery) {
  std::string what = "unknown exception";
  try {
    return delivery();
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
  }
  log_(LogLevel::error, "nacos: a listener threw: " + what);
}

}  // namespace easyretry::nacos
