#pragma once
// Thousands of transfers on one thread: libcurl says which sockets it waits for and until when, epoll waits for them.
// Asking libcurl to look after all transfers at every event would take a time that grows with the square of their
// number.

#include <optional>
#include <vector>

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
  void add(Transfer& transfer);
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

  std::unique_ptr<void, Cleanup> new_multi();
  void watch(int socket, int what);
  void wait(Instant until);
  std::vector<Ended> take_ended();

  const int epoll_;
  const int bell_;
  const std::size_t most_connections_;
  std::optional<Instant> timer_;  // when libcurl wants to be called though nothing happens
  std::unique_ptr<void, Cleanup> multi_;
};

}  // namespace easyretry::webhook
