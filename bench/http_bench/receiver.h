#pragma once
// Handlers behind URLs: answers every call with status 200 after a delay.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace easyretry::bench {

class Receiver {
 public:
  // On this many free ports of 127.0.0.1.
  Receiver(std::size_t ports, std::chrono::milliseconds delay);
  ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  const std::vector<std::uint16_t>& ports() const { return ports_; }
  std::size_t answered() const { return answered_; }
  // The highest number of calls in flight.
  std::size_t most_at_once() const { return most_at_once_; }

 private:
  struct Impl;
  class Connection;
  void accept(std::size_t port);

  std::vector<std::uint16_t> ports_;
  std::atomic<std::size_t> answered_{0};
  std::atomic<std::size_t> most_at_once_{0};
  std::size_t at_once_ = 0;  // on its thread only
  std::unique_ptr<Impl> impl_;
  std::thread thread_;
};

}  // namespace easyretry::bench
