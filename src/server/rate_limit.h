#pragma once
// How many requests a second each may make; those of one second may come at once. Thread-safe.

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <easyretry/time.h>

namespace easyretry::server {

class RateLimit {
 public:
  // 0 requests a second: no limit. The clock must outlive it.
  RateLimit(int per_second, const Clock& clock, std::size_t most_known = 10'000);

  // Counts a request. Nullopt: it may be made; otherwise it did not count, and there is room in so long.
  std::optional<std::chrono::nanoseconds> wait_of(const std::string& who);

 private:
  void forget_the_idle(Instant now);

  const std::chrono::nanoseconds apart_;  // requests that come evenly; 0: no limit
  const Clock& clock_;
  const std::size_t most_known_;
  std::mutex mutex_;
  // Guarded by mutex_: until when what has been asked would have lasted at an even pace (GCRA). One that has passed
  // says no more than none.
  std::map<std::string, Instant> lasts_until_;
};

}  // namespace easyretry::server
