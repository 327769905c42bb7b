#pragma once
// Who tries tokens that are none. After a few within a minute he is told to wait, for twice as long each time he goes
// on. Only wrong tokens are held against an address: a proxy hides many clients behind its own, and those with a right
// one are served. That a token cannot be guessed is due to its 256 random bits; this keeps the trying from costing
// much, and makes it show. Thread-safe.

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <easyretry/time.h>

namespace easyretry::server {

class WrongTokens {
 public:
  struct Limits {
    int free = 10;  // within `window`
    std::chrono::nanoseconds window = std::chrono::minutes{1};
    std::chrono::nanoseconds first_wait = std::chrono::seconds{1};
    std::chrono::nanoseconds longest_wait = std::chrono::minutes{5};
    std::size_t most_known = 10'000;
  };

  // The clock must outlive it.
  WrongTokens(Limits limits, const Clock& clock) : limits_(limits), clock_(clock) {}

  // Counts one. Nullopt: he need not wait; otherwise it did not count, and he has to wait for so long.
  std::optional<std::chrono::nanoseconds> wait_of(const std::string& address);

 private:
  struct Tries {
    Instant began{};
    Instant wait_until{};
    int count = 0;
  };

  bool is_over(const Tries& tries, Instant now) const;
  Tries& tries_of(const std::string& address, Instant now);
  std::chrono::nanoseconds wait_after(int count) const;

  const Limits limits_;
  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Tries> by_network_;  // guarded by mutex_
};

// What one customer of a provider has: an IPv4 address as it is, of an IPv6 address the first 64 bits.
std::string network_of(const std::string& address);

}  // namespace easyretry::server
