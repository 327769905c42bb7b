#pragma once
// Everything that is left to chance in a run, from one seed.

#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace easyretry::sim {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  std::uint64_t seed() { return random_.next() | 1; }  // for another generator; never 0
  bool chance(double probability) { return random_.unit() < probability; }

  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[random_.below(from.size())];
  }

  // Both ends included.
  int between(int least, int most) {
    return least + static_cast<int>(random_.below(static_cast<std::uint64_t>(most - least + 1)));
  }
  template <class Rep, class Period>
  std::chrono::duration<Rep, Period> between(std::chrono::duration<Rep, Period> least,
                                             std::chrono::duration<Rep, Period> most) {
    return least + std::chrono::duration<Rep, Period>{
                       static_cast<Rep>(random_.below(static_cast<std::uint64_t>((most - least).count()) + 1))};
  }

  // Mostly short, now and then several times the mean: how faults and customers arrive.
  std::chrono::nanoseconds around(std::chrono::nanoseconds mean) {
    return std::chrono::nanoseconds{
        static_cast<std::int64_t>(-std::log1p(-random_.unit()) * static_cast<double>(mean.count()))};
  }

 private:
  base::Random random_;
};

}  // namespace easyretry::sim
