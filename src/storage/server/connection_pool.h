#pragma once
// A few connections to one server, each lent to one thread at a time. A broken one is closed, and a new one is opened
// when it is needed, but no more often than a server that is down, or just coming up, can bear. Safe to use from any
// thread.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/pause_clock.h"
#include "base/random.h"
#include "storage/server/server_error.h"

namespace easyretry::storage::server {

// After the n-th failed connection in a row: 50 ms, doubled each time up to 2 s, half of it random, so that instances
// do not come back together.
inline std::chrono::microseconds reconnect_pause(int failures, base::Random& random) {
  const double millis = std::min(2000.0, 50.0 * static_cast<double>(1 << std::min(failures, 6)));
  return std::chrono::microseconds{static_cast<std::int64_t>(millis * (0.5 + random.unit() / 2) * 1000)};
}

// A Session has a quick function broken().
template <class Session>
class ConnectionPool {
 public:
  using Connect = std::function<std::unique_ptr<Session>()>;
  ConnectionPool(Connect connect, std::size_t size, const base::PauseClock& clock = base::system_pauses())
      : connect_(std::move(connect)), clock_(clock), to_lend_(size), random_(base::random_seed()) {}

  class Lease {
   public:
    Lease(ConnectionPool& pool, std::unique_ptr<Session> session) : pool_(pool), session_(std::move(session)) {}
    ~Lease() { pool_.give_back(std::move(session_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Session* operator->() const { return session_.get(); }
    Session& operator*() const { return *session_; }

   private:
    ConnectionPool& pool_;
    std::unique_ptr<Session> session_;
  };

  // Waits while all are lent. Throws ServerError if it gets no connection.
  Lease take() {
    std::unique_lock lock{mutex_};
    if (!returned_.wait_for(lock, kPatience, [this] { return to_lend_ > 0; })) {
      throw ServerError{Trouble::overloaded,
                        "no connection became free within 10 seconds: the server does not keep up"};
    }
    --to_lend_;
    while (!idle_.empty()) {
      auto session = std::move(idle_.back());
      idle_.pop_back();
      if (!session->broken()) return {*this, std::move(session)};
    }
    lock.unlock();
    return {*this, connect()};
  }

 private:
  // If all sessions are lent for this long, the caller is told that the server does not keep up.
  static constexpr std::chrono::seconds kPatience{10};

  std::unique_ptr<Session> connect() {
    try {
      check_pause();
      auto session = connect_();
      const std::lock_guard lock{mutex_};
      failures_ = 0;
      return session;
    } catch (const ServerError& error) {
      give_back(nullptr);
      const std::lock_guard lock{mutex_};
      if (clock_.now() < next_try_) throw;
      next_try_ = clock_.now() + reconnect_pause(failures_++, random_);
      last_failure_ = error.what();
      last_trouble_ = error.trouble();
      throw;
    } catch (...) {
      give_back(nullptr);
      throw;
    }
  }

  void give_back(std::unique_ptr<Session> session) {
    {
      const std::lock_guard lock{mutex_};
      ++to_lend_;
      if (session && !session->broken()) idle_.push_back(std::move(session));
    }
    returned_.notify_one();
  }

  void check_pause() {
    const std::lock_guard lock{mutex_};
    if (failures_ > 0 && clock_.now() < next_try_) throw ServerError{last_trouble_, last_failure_};
  }

  const Connect connect_;
  const base::PauseClock& clock_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable returned_;
  std::size_t to_lend_;
  std::vector<std::unique_ptr<Session>> idle_;
  int failures_ = 0;
  Instant next_try_{};
  std::string last_failure_;
  Trouble last_trouble_ = Trouble::gone;
  base::Random random_;
};

}  // namespace easyretry::storage::server
