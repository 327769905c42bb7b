#pragma once
// Ends the waiting of one thread for its socket.

#include <chrono>

namespace easyretry::storage::postgres {

class WakeUp {
 public:
  WakeUp();
  ~WakeUp();
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  void ring() const;  // from any thread; remembered if nobody waits
  // Until rung, or the socket (-1: none) has one of the events, or `until`.
  void wait(int socket, short events, std::chrono::steady_clock::time_point until) const;

 private:
  int event_;
};

}  // namespace easyretry::storage::postgres
