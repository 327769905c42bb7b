#pragma once
// What happened, for Stats. Relaxed: each number is right by itself, not as a set.

#include <atomic>
#include <cstdint>

namespace easyretry::engine {

struct Counters {
  using Count = std::atomic<std::uint64_t>;
  Count stored{0}, claimed{0}, succeeded{0}, retried{0}, exhausted{0}, rejected{0}, quarantined{0}, parked{0},
      cancelled{0}, handed_back{0}, callback_failures{0}, callbacks_abandoned{0}, lost_claims{0}, stale_settles{0},
      leases_lost{0}, timeouts{0}, store_errors{0}, internal_errors{0}, listener_failures{0}, events_dropped{0},
      lost_in_memory{0};

  static void add(Count& count, std::uint64_t n = 1) { count.fetch_add(n, std::memory_order_relaxed); }
};

}  // namespace easyretry::engine
