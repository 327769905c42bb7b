#pragma once
// Runs thousands of transfers on one thread: libcurl says which sockets it waits for and until when, and epoll waits
// for them. If libcurl checked all transfers at every event, the cost would be quadratic.
//
// libcurl also walks all of its connections at the end of every transfer, and those to a server at the start of one:
// with 5,000 connections that took 100 µs per call. So there are several libcurl multi handles ("lanes"), each with a
// part of the connections. This is why webhooks do not use the synchronous client of http/client.h.

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "webhook/transfer.h"

namespace easyretry::webhook {

// Numbers the calls in flight to a server; each gets the lowest free number. For one thread.
class ConnectionSlots {
 public:
  std::size_t take(const std::string& server);
  void give_back(const std::string& server, std::size_t slot);

 private:
  struct Server {
    std::size_t slots = 0;         // the largest number in use at a time so far
    std::set<std::size_t> free{};  // of them
  };
  std::unordered_map<std::string, Server> servers_;  // with at least one slot in use
};

class Multi {
 public:
  // Throws std::system_error if file descriptors have run out. `wakeup` is a descriptor that ends a wait while it is
  // readable.
  Multi(int wakeup, std::size_t most_connections);
  ~Multi();
  Multi(const Multi&) = delete;
  Multi& operator=(const Multi&) = delete;

  // The transfer must live until it is removed, even if it has ended.
  void add(Transfer& transfer, const std::string& server);
  void remove(Transfer& transfer);
  // Closes idle connections. There must be no transfer.
  void close_connections();

  struct Ended {
    CallId call;
    int code;  // from libcurl
  };
  // Waits for events until the given time at the latest, and processes them.
  std::vector<Ended> run(Instant until);

 private:
  struct Callbacks;  // called by libcurl
  struct Cleanup {
    void operator()(void* multi) const;
  };

  // Each handle loads its own copy of the certificate authorities, about 1 MiB.
  static constexpr std::size_t kLanes = 16;
  struct Lane {
    int epoll = -1;
    std::uint32_t number = 0;
    std::optional<Instant> timer{};          // when libcurl wants to be called even without an event
    std::unique_ptr<void, Cleanup> multi{};  // created on first use
  };
  struct Entry {
    std::string server;
    std::size_t slot;
    Lane* lane;
  };

  Lane& lane_of(const std::string& server, std::size_t slot);
  std::unique_ptr<void, Cleanup> new_multi(Lane& lane) const;
  void wait(Instant until);
  void run_timers();
  std::vector<Ended> take_ended();

  const int epoll_;
  const int wakeup_;
  const std::size_t most_connections_;
  ConnectionSlots slots_;
  std::unordered_map<const Transfer*, Entry> entries_;
  std::array<Lane, kLanes> lanes_;
};

}  // namespace easyretry::webhook
