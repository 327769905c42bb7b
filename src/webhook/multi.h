#pragma once
// Thousands of transfers on one thread: libcurl says which sockets it waits for and until when, epoll waits for them.
// Asking libcurl to look after all transfers at every event would take a time that grows with the square of their
// number.
//
// libcurl also walks all connections it has at the end of every transfer, and those to a server at the beginning of
// one: with 5,000 of them that was 100 µs a call. So it is started several times, in lanes that have some of the
// connections each.

#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "webhook/seats.h"
#include "webhook/transfer.h"

namespace easyretry::webhook {

class Multi {
 public:
  // Throws std::system_error where there are no more file descriptors. `bell` ends a wait while it is readable.
  Multi(int bell, std::size_t most_connections);
  ~Multi();
  Multi(const Multi&) = delete;
  Multi& operator=(const Multi&) = delete;

  // Until it is removed, also when it has ended.
  void add(Transfer& transfer, const std::string& server);
  void remove(Transfer& transfer);
  // Those that were kept for later transfers. There must be no transfer.
  void close_connections();

  struct Ended {
    CallId call;
    int code;  // libcurl's
  };
  // Waits until something happens, at the latest until then, and does it.
  std::vector<Ended> run(Instant until);

 private:
  struct Callbacks;  // libcurl's way to tell us
  struct Cleanup {
    void operator()(void* multi) const;
  };

  // Each reads the authorities that vouch for servers for itself, about a mebibyte.
  static constexpr std::size_t kLanes = 16;
  struct Lane {
    int epoll = -1;
    std::uint32_t number = 0;
    std::optional<Instant> timer{};          // when libcurl wants to be called though nothing happens
    std::unique_ptr<void, Cleanup> multi{};  // made when it is needed
  };
  struct Place {
    std::string server;
    std::size_t seat;
    Lane* lane;
  };

  Lane& lane_of(const std::string& server, std::size_t seat);
  std::unique_ptr<void, Cleanup> new_multi(Lane& lane) const;
  void wait(Instant until);
  void run_timers();
  std::vector<Ended> take_ended();

  const int epoll_;
  const int bell_;
  const std::size_t most_connections_;
  Seats seats_;
  std::unordered_map<const Transfer*, Place> places_;
  std::array<Lane, kLanes> lanes_;
};

}  // namespace easyretry::webhook
