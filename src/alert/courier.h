#pragma once
// Tells one channel what the desk has for it, on a thread of its own: a channel that hangs holds up nobody. What does
// not arrive is tried again after longer and longer pauses, then logged, counted and forgotten.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include <easyretry/options.h>

#include "alert/channel.h"
#include "alert/desk.h"

namespace easyretry::alert {

struct Pauses {
  std::array<Millis, 3> between{Millis{1'000}, Millis{5'000}, Millis{25'000}};
  Millis longest{60'000};  // that a server may ask for by Retry-After
};

class Courier {
 public:
  // The desk outlives it.
  Courier(std::string name, std::unique_ptr<Channel> channel, Desk& desk, LogSink log, Pauses pauses = {});
  ~Courier();  // stop(), and waits
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  // What is under way and what is left is told without further tries, for three seconds at most. Does not wait: where
  // there are several couriers, they end together.
  void stop();

  const std::string& name() const { return name_; }
  std::uint64_t delivered() const { return delivered_; }
  std::uint64_t failed() const { return failed_; }

 private:
  void run(const std::stop_token& stop);
  void deliver(const Message& message, const std::stop_token& stop);
  void tell_what_is_left();
  void count(const Message& message, const Told& told, std::size_t tries);

  // Fixed after construction
  const std::string name_;
  const std::unique_ptr<Channel> channel_;
  Desk& desk_;
  const LogSink log_;
  const Pauses pauses_;

  std::atomic<std::uint64_t> delivered_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::stop_source over_;  // the last moments, too
  std::jthread alarm_;
  std::jthread thread_;
};

}  // namespace easyretry::alert
