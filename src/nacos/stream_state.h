#pragma once
// What is known of one connection: written by gRPC's threads and by whoever calls, read by the session's thread.

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include <easyretry/time.h>

namespace easyretry::nacos {

class StreamState {
 public:
  void heard() {
    const std::lock_guard lock{mutex_};
    last_heard_ = std::chrono::steady_clock::now();
    doubtful_ = false;
  }
  // A call got no answer: ask the server whether it is there before `idle` is over.
  void doubt() {
    const std::lock_guard lock{mutex_};
    doubtful_ = true;
  }
  void confirm() {
    {
      const std::lock_guard lock{mutex_};
      confirmed_ = true;
    }
    changed_.notify_all();
  }
  // The first reason is kept.
  void end(std::string why) {
    {
      const std::lock_guard lock{mutex_};
      if (!ended_) ended_ = std::move(why);
    }
    changed_.notify_all();
    over_.request_stop();
  }
  // Cuts short what is of no use without the connection.
  std::stop_token over() const { return over_.get_token(); }

  // Returns early when the server confirmed the connection or ended it.
  bool wait_for_confirmation(Millis timeout) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, timeout, [this] { return confirmed_ || ended_; });
    return confirmed_ && !ended_;
  }
  // False when the pause was cut short by the end.
  bool pause(Millis time) {
    std::unique_lock lock{mutex_};
    return !changed_.wait_for(lock, time, [this] { return ended_.has_value(); });
  }

  std::optional<std::string> ended() const {
    const std::lock_guard lock{mutex_};
    return ended_;
  }
  Instant last_heard() const {
    const std::lock_guard lock{mutex_};
    return last_heard_;
  }
  // When the server is to be asked whether it is there.
  Instant check_at(Millis idle) const {
    const std::lock_guard lock{mutex_};
    return doubtful_ ? Instant::min() : last_heard_ + idle;
  }

 private:
  std::stop_source over_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_
  Instant last_heard_ = std::chrono::steady_clock::now();
  bool doubtful_ = false;
  bool confirmed_ = false;
  std::optional<std::string> ended_;
};

}  // namespace easyretry::nacos
