#pragma once
// Handlers behind URLs: every call is answered with 200 a while after it came.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace easyretry::bench {

class Receiver {
 public:
  // On so many ports of 127.0.0.1, any that are free.
  Receiver(std::size_t ports, std::chrono::milliseconds takes);
  ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  const std::vector<std::uint16_t>& ports() const { return ports_; }
  std::size_t answered() const { return answered_; }
  // Most calls that had come and were not answered yet.
  std::size_t most_at_once() const { return most_at_once_; }

 private:
  struct Impl;
  class Visit;
  void accept(std::size_t port);

  std::vector<std::uint16_t> ports_;
  std::atomic<std::size_t> answered_{0};
  std::atomic<std::size_t> most_at_once_{0};
  std::size_t at_once_ = 0;  // on its thread only
  std::unique_ptr<Impl> impl_;
  std::thread thread_;
};

}  // namespace easyretry::bench
