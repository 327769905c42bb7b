#pragma once
// Calls listeners on a thread of its own: one at a time, each with the newest there is for it. A slow listener delays
// only other listeners, never the connection.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include <easyretry/options.h>

namespace easyretry::nacos {

class Courier {
 public:
  using ListenerId = std::uint64_t;

  explicit Courier(LogSink log);
  ~Courier();
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  // Waits for the delivery that is running; there are no more afterwards.
  void stop();

  // Replaces what is still waiting for the same listener.
  void deliver(ListenerId listener, std::function<void()> delivery);
  // Nothing of the listener's is waiting or running when this returns; but from inside one of its own deliveries, that
  // one goes on.
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
  ListenerId last_ = 0;     // to be called, so that listeners take turns
  std::map<ListenerId, std::function<void()>> waiting_;

  std::thread thread_;
};

}  // namespace easyretry::nacos
