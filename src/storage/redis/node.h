#pragma once
// The connections with one server. Safe to use from any thread.

#include <atomic>
#include <chrono>

#include "storage/redis/connection.h"
#include "storage/server/connection_pool.h"

namespace easyretry::storage::redis {

class Node {
 public:
  using Pool = server::ConnectionPool<Connection>;

  Node(const Address& address, std::size_t connections)
      : work_([address] { return std::make_unique<Connection>(address); }, connections),
        control_([address] { return std::make_unique<Connection>(address); }, kControlConnections) {}

  Pool& work() { return work_; }
  Pool& control() { return control_; }

  // Of one that says nothing everybody would find out by waiting, with all that they have for other servers: for a
  // second they are told at once.
  void was_silent() { silent_until_ = Steady::now() + kRest; }
  bool is_silent() const { return Steady::now() < silent_until_.load(); }

 private:
  using Steady = std::chrono::steady_clock;
  static constexpr std::size_t kControlConnections = 3;
  static constexpr std::chrono::seconds kRest{1};

  Pool work_;
  Pool control_;
  std::atomic<Steady::time_point> silent_until_{};
};

}  // namespace easyretry::storage::redis
