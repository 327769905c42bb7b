#pragma once
// A few connections with one server, lent to one thread each. A broken one is thrown away, and a new one is made when
// it is needed: not more often than a server that is down, or just coming up, can bear. Safe to use from any thread.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "storage/sql/reconnect_pause.h"
#include "storage/sql/server_error.h"

namespace easyretry::storage {

// A Session has broken(), which is quick.
template <class Session>
class ConnectionPool {
 public:
  using Connect = std::function<std::unique_ptr<Session>()>;
  ConnectionPool(Connect connect, std::size_t size)
      : connect_(std::move(connect)), to_lend_(size), random_(base::random_seed()) {}

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

  // Waits while all are lent. Throws ServerError where no connection is to be had.
  Lease take() {
    std::unique_lock lock{mutex_};
    if (!returned_.wait_for(lock, kPatience, [this] { return to_lend_ > 0; })) {
      throw sql::ServerError{sql::Trouble::overloaded,
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
  using Steady = std::chrono::steady_clock;
  // A caller that finds all sessions lent for so long is told that the server does not keep up.
  static constexpr std::chrono::seconds kPatience{10};

  std::unique_ptr<Session> connect() {
    try {
      check_pause();
      auto session = connect_();
      const std::lock_guard lock{mutex_};
      failures_ = 0;
      return session;
    } catch (const sql::ServerError& error) {
      give_back(nullptr);
      const std::lock_guard lock{mutex_};
      if (Steady::now() < next_try_) throw;
      next_try_ = Steady::now() + sql::reconnect_pause(failures_++, random_);
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
    if (failures_ > 0 && Steady::now() < next_try_) throw sql::ServerError{last_trouble_, last_failure_};
  }

  const Connect connect_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable returned_;
  std::size_t to_lend_;
  std::vector<std::unique_ptr<Session>> idle_;
  int failures_ = 0;
  Steady::time_point next_try_{};
  std::string last_failure_;
  sql::Trouble last_trouble_ = sql::Trouble::gone;
  base::Random random_;
};

}  // namespace easyretry::storage
