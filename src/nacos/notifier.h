#pragma once
// Calls listeners on its own thread: one at a time, each with the newest value for it. A slow listener delays only
// other listeners, never the connection.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include <easyretry/options.h>

namespace easyretry::nacos {

class Notifier {
 public:
  using ListenerId = std::uint64_t;

  explicit Notifier(LogSink log);
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // Waits for the running delivery; none follows.
  void stop();

  // Replaces a delivery that still waits for the same listener.
  void deliver(ListenerId listener, std::function<void()> delivery);
  // When this returns, no delivery to the listener is waiting or running. Called from inside a delivery, that one
  // continues.
  void forget(ListenerId listener);

 private:
  void run();
  void call(const std::function<void()>& delivery);

  const LogSink log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_
  bool stopping_ = false;
  ListenerId running_ = 0;  // 0: none
  ListenerId last_ = 0;     // that was called, so that listeners take turns
  std::map<ListenerId, std::function<void()>> waiting_;

  std::thread thread_;
};

// Ends on destruction: after that its listener is not running and will not be called. A listener that ends its own
// subscription runs to its end. Must not outlive the client.
class [[nodiscard]] Subscription {
 public:
  Subscription() = default;
  explicit Subscription(std::function<void()> end) : end_(std::move(end)) {}
  ~Subscription() { end(); }
  Subscription(Subscription&& other) noexcept : end_(std::exchange(other.end_, nullptr)) {}
  Subscription& operator=(Subscription&& other) noexcept {
    if (this != &other) {
      end();
      end_ = std::exchange(other.end_, nullptr);
    }
    return *this;
  }

  void end() {
    if (const auto end = std::exchange(end_, nullptr)) end();
  }

 private:
  std::function<void()> end_;
};

}  // namespace easyretry::nacos
