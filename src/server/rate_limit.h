#pragma once
// Limits for clients: requests per second, and wrong tokens. Thread-safe.

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <easyretry/time.h>

namespace easyretry::server {

// Requests per second of each client; a second's worth of them may come at once.
class RateLimit {
 public:
  // 0 requests per second: no limit. The clock must outlive it.
  RateLimit(int per_second, const Clock& clock, std::size_t most_known = 10'000);

  // Counts a request. Nullopt: the request is allowed. Otherwise it did not count, and this is how long to wait.
  std::optional<std::chrono::nanoseconds> wait_of(const std::string& client);

 private:
  void forget_the_idle(Instant now);

  const std::chrono::nanoseconds apart_;  // between requests at an even rate; 0: no limit
  const Clock& clock_;
  const std::size_t most_known_;
  std::mutex mutex_;
  // Guarded by mutex_: when the requests so far would end at an even rate (GCRA). An entry in the past has no effect.
  std::map<std::string, Instant> lasts_until_;
};

// Clients that try wrong tokens. After a few within a minute, a client has to wait, twice as long each time. Only wrong
// tokens count against an address: a proxy hides many clients behind its own, and those with a valid token are served.
// Tokens cannot be guessed because of their 256 random bits; this makes trying cheap for the daemon, and visible.
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

  // Counts a wrong token. Nullopt: the client need not wait. Otherwise this one did not count, and this is how long to
  // wait.
  std::optional<std::chrono::nanoseconds> wait_of(const std::string& address);
  // How long the client still has to wait; counts nothing.
  std::optional<std::chrono::nanoseconds> waits(const std::string& address);

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

// The part of an address that belongs to one customer: an IPv4 address, or the first 64 bits of an IPv6 address.
std::string network_of(const std::string& address);

}  // namespace easyretry::server
