#pragma once
// splitmix64 over an atomic counter: the same seed gives the same numbers, and threads may share a generator.

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include <unistd.h>

namespace easyretry::base {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_.fetch_add(kStep, std::memory_order_relaxed) + kStep;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }  // [0, 1)
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15ULL;
  std::atomic<std::uint64_t> state_;
};

// From the operating system. Throws std::system_error if it has none.
inline std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  if (getentropy(&seed, sizeof seed) != 0) throw std::system_error{errno, std::generic_category(), "getentropy"};
  return seed;
}

}  // namespace easyretry::base
