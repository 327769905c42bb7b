#pragma once
// Servers of which any one can say where things are: nodes of a cluster, sentinels. Safe to use from any thread.

#include <chrono>
#include <functional>
#include <mutex>
#include <vector>

#include "storage/redis/connection.h"

namespace easyretry::storage::redis {

class Sources {
 public:
  explicit Sources(Address like) : like_(std::move(like)) {}

  // Asks one after the other until one can say; not if that was done a moment ago. Whom the caller has just failed with
  // comes last. Throws ServerError where nobody can. `question` throws it to have the next one asked.
  using Question = std::function<void(Connection& connection, const Endpoint& asked)>;
  void ask(std::vector<Endpoint> servers, const Endpoint& suspect, const Question& question);

 private:
  using Steady = std::chrono::steady_clock;

  const Address like_;
  std::mutex mutex_;  // one at a time; guards the next
  Steady::time_point asked_at_{};
};

}  // namespace easyretry::storage::redis
