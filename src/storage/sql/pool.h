#pragma once
// A few sessions with one server, lent to one thread each. A broken one is thrown away, and a new one is connected when
// it is needed: not more often than a server that is down, or just coming up, can bear. Safe to use from any thread.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/random.h"
#include "storage/sql/server_error.h"
#include "storage/sql/session.h"

namespace easyretry::storage::sql {

class Pool {
 public:
  using Connect = std::function<std::unique_ptr<Session>()>;
  Pool(Connect connect, std::size_t size);

  class Lease {
   public:
    Lease(Pool& pool, std::unique_ptr<Session> session) : pool_(pool), session_(std::move(session)) {}
    ~Lease() { pool_.give_back(std::move(session_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Session* operator->() const { return session_.get(); }
    Session& operator*() const { return *session_; }

   private:
    Pool& pool_;
    std::unique_ptr<Session> session_;
  };

  // Waits while all are lent. Throws ServerError where no connection is to be had.
  Lease take();

 private:
  using Steady = std::chrono::steady_clock;

  std::unique_ptr<Session> connect();
  void give_back(std::unique_ptr<Session> session);
  void check_pause();

  const Connect connect_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable returned_;
  std::size_t to_lend_;
  std::vector<std::unique_ptr<Session>> idle_;
  int failures_ = 0;
  Steady::time_point next_try_{};
  std::string last_failure_;
  Trouble last_trouble_ = Trouble::gone;
  base::Random random_;
};

}  // namespace easyretry::storage::sql
