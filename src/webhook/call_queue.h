#pragma once
// Decides which calls may start: a limit applies in total, and another one per server. The other calls are queued,
// first in, first out for each server. Servers below their limit take turns, so that a slow server with a long queue
// does not delay the others. For one thread.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "webhook/call.h"

namespace easyretry::webhook {

class CallQueue {
 public:
  CallQueue(std::size_t in_all, std::size_t per_server) : total_limit_(in_all), server_limit_(per_server) {}

  void push(CallId call, const std::string& server);
  // Removes the next call that may start and counts it as in flight.
  std::optional<CallId> next();
  // Removes a queued call.
  void remove(CallId call, const std::string& server);
  // A call in flight to this server has ended.
  void release(const std::string& server);

  std::size_t in_flight() const { return in_flight_; }
  std::size_t in_flight(const std::string& server) const;

 private:
  struct Server {
    std::size_t in_flight = 0;
    std::set<CallId> waiting{};
    bool in_turn = false;
  };
  using Servers = std::unordered_map<std::string, Server>;

  bool has_room(const Server& server) const { return server.in_flight < server_limit_; }
  // Gives the server a turn if it has queued calls and is below its limit.
  void take_turn(Servers::value_type& server);
  void forget_if_idle(const std::string& name);

  const std::size_t total_limit_;
  const std::size_t server_limit_;
  std::size_t in_flight_ = 0;
  Servers servers_;
  std::deque<std::string> turns_;  // servers with in_turn set
};

}  // namespace easyretry::webhook
