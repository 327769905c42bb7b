#pragma once
// How often a number was how large: counts between fixed bounds, as monitoring wants them.
//
// Thread-safe and lock-free: an addition is two relaxed atomic ones, so it may stand where every task passes. A reading
// may miss the additions that are just being made.

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

namespace easyretry::engine {

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
  // In nanoseconds. Two clocks that disagree may make it negative: then it is none.
  void add(std::chrono::nanoseconds time) { add(static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0))); }

  struct Reading {
    std::span<const std::uint64_t> bounds;
    std::vector<std::uint64_t>
        counts;  // of numbers up to each bound and above the one before; last, of those above all
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

}  // namespace easyretry::engine
