#pragma once
// One connection to one server: a TCP connection with a gRPC stream and calls.
//
// To Nacos, the TCP connection is the client: registrations and subscriptions belong to it, and a call counts for the
// client whose stream uses the same connection. So a Connection is used once. gRPC would reconnect by itself, and the
// server would not recognise us. When the stream has ended, drop the Connection and send everything again on a new one.
//
// Thread-safe. Hold it by shared pointer: call() returns only when it has an answer, has timed out, or close() was
// called.

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include <easyretry/time.h>

#include "base/result.h"
#include "nacos/options.h"

namespace easyretry::nacos {

struct Message {
  std::string type;  // the name of the server's class: "InstanceRequest"
  std::string body;  // JSON
  std::map<std::string, std::string> headers{};
};

// Called on gRPC's threads, one call at a time. Must not block or close the connection.
struct StreamListener {
  std::function<void(Message)> on_message;
  std::function<void(std::string why)> on_end;  // once, unless close() comes first
};

class Connection {
 public:
  // Connects on first use, not here.
  Connection(const ServerAddress& server, const ClientOptions& options);
  ~Connection();  // must not run on a thread of gRPC
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // in_doubt: the server may have executed it. unavailable: nothing was sent.
  Result<Message> call(const Message& request, Millis timeout);

  // Call it once.
  void open_stream(StreamListener listener);
  // Queued; dropped if the stream has ended.
  void send(const Message& message);

  // Waiting calls return at once. When this returns, no listener is running and none will be called.
  void close();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

// The state of one connection: written by gRPC's threads and by callers, read by the session's thread.
class StreamState {
 public:
  void heard() {
    const std::lock_guard lock{mutex_};
    last_heard_ = std::chrono::steady_clock::now();
    doubtful_ = false;
  }
  // A call got no answer: check the server now instead of after `idle`.
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
  // Stops work that is useless without the connection.
  std::stop_token over() const { return over_.get_token(); }

  // Returns early when the server confirmed the connection or ended it.
  bool wait_for_confirmation(Millis timeout) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, timeout, [this] { return confirmed_ || ended_; });
    return confirmed_ && !ended_;
  }
  // Returns false if the connection ended during the pause.
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
  // When to send the next health check.
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
