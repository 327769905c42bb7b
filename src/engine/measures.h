#pragma once
// Measurements of the engine: counters for Stats, histograms for monitoring. Thread-safe and lock-free.

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace easyretry::engine {

// Relaxed: each counter is exact, but counters read together may not match.
struct Counters {
  using Count = std::atomic<std::uint64_t>;
  Count stored{0}, claimed{0}, succeeded{0}, retried{0}, exhausted{0}, rejected{0}, quarantined{0}, parked{0},
      cancelled{0}, handed_back{0}, callback_failures{0}, callbacks_abandoned{0}, lost_claims{0}, stale_settles{0},
      leases_lost{0}, timeouts{0}, store_errors{0}, internal_errors{0}, listener_failures{0}, events_dropped{0},
      lost_in_memory{0};

  static void add(Count& count, std::uint64_t n = 1) { count.fetch_add(n, std::memory_order_relaxed); }
};

// Counts values between fixed bounds, as monitoring wants them. Adding a value is two relaxed atomic additions, cheap
// enough for a place that every task passes. A reading may miss additions in progress.
class Histogram {
 public:
  static constexpr std::size_t kMostBounds = 15;

  // Ascending; they outlive the histogram.
  explicit Histogram(std::span<const std::uint64_t> bounds) : bounds_(bounds) {
    assert(bounds.size() <= kMostBounds && std::is_sorted(bounds.begin(), bounds.end()));
  }

  void add(std::uint64_t value) {
    const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);
    counts_[static_cast<std::size_t>(bound - bounds_.begin())].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }
  // In nanoseconds. Two clocks that disagree may give a negative time, which counts as 0.
  void add(std::chrono::nanoseconds time) { add(static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0))); }

  struct Reading {
    std::span<const std::uint64_t> bounds;
    // The number of values up to each bound and above the one before; the last one is for values above all bounds.
    std::vector<std::uint64_t> counts;
    std::uint64_t sum = 0;
  };
  Reading read() const {
    Reading reading{bounds_, {}, sum_.load(std::memory_order_relaxed)};
    for (std::size_t i = 0; i <= bounds_.size(); ++i) {
      reading.counts.push_back(counts_[i].load(std::memory_order_relaxed));
    }
    return reading;
  }

 private:
  const std::span<const std::uint64_t> bounds_;
  std::array<std::atomic<std::uint64_t>, kMostBounds + 1> counts_{};
  std::atomic<std::uint64_t> sum_{0};
};

// The calls to the store whose latency is measured.
enum class StoreVerb { insert, load, claim, settle, renew, revise, end, take_in, paused, beat };
inline constexpr std::array<std::string_view, 10> kStoreVerbNames{"insert", "load", "claim",   "settle", "renew",
                                                                  "revise", "end",  "take_in", "paused", "beat"};

namespace bounds {

inline constexpr std::uint64_t kMicro = 1'000;
inline constexpr std::uint64_t kMilli = 1'000 * kMicro;
inline constexpr std::uint64_t kSecond = 1'000 * kMilli;

inline constexpr std::array kStore{100 * kMicro, 250 * kMicro, 500 * kMicro, kMilli,      5 * kMilli / 2,
                                   5 * kMilli,   10 * kMilli,  25 * kMilli,  50 * kMilli, 100 * kMilli,
                                   250 * kMilli, 500 * kMilli, kSecond,      5 * kSecond, 30 * kSecond};
inline constexpr std::array kLateness{kMilli,      5 * kMilli / 2, 5 * kMilli,   10 * kMilli,   25 * kMilli,
                                      50 * kMilli, 100 * kMilli,   250 * kMilli, 500 * kMilli,  kSecond,
                                      5 * kSecond, 30 * kSecond,   60 * kSecond, 600 * kSecond, 3600 * kSecond};
inline constexpr std::array kRunTime{kMilli,       5 * kMilli,   10 * kMilli,  25 * kMilli,  50 * kMilli,
                                     100 * kMilli, 250 * kMilli, 500 * kMilli, kSecond,      5 * kSecond / 2,
                                     5 * kSecond,  10 * kSecond, 30 * kSecond, 60 * kSecond, 300 * kSecond};
inline constexpr std::array<std::uint64_t, 12> kBatch{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000};

}  // namespace bounds

struct StoreLatency : Histogram {
  StoreLatency() : Histogram(bounds::kStore) {}
};

struct Measures {
  Histogram lateness{bounds::kLateness};   // from a task's due time to the start of its attempt
  Histogram claim_batch{bounds::kBatch};   // tasks asked for by one call
  Histogram settle_batch{bounds::kBatch};  // tasks written by one call
  std::array<StoreLatency, kStoreVerbNames.size()> store_latency{};  // by verb; failed calls are included

  StoreLatency& latency_of(StoreVerb verb) { return store_latency[static_cast<std::size_t>(verb)]; }
};

}  // namespace easyretry::engine
