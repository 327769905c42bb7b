#pragma once
// Times of which nearly all must be short: how they are spread, for people and for a bound.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <vector>

#include <easyretry/time.h>

namespace easyretry::fault {

class Lateness {
 public:
  void add_micros(std::int64_t micros) { millis_.push_back(micros / 1000); }
  std::size_t size() const { return millis_.size(); }
  // Not exceeded by this part of them: of(0.5) is the median, of(1) the longest.
  Millis of(double part) const {
    if (millis_.empty()) return Millis{0};
    std::vector<std::int64_t> sorted = millis_;
    std::ranges::sort(sorted);
    const auto place = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
    return Millis{sorted[std::max<std::size_t>(place, 1) - 1]};
  }

  friend std::ostream& operator<<(std::ostream& out, const Lateness& times) {
    out << times.size() << " of them, half within " << times.of(0.5).count() << " ms, 90 % " << times.of(0.9).count();
    return out << ", 99 % " << times.of(0.99).count() << ", 99.9 % " << times.of(0.999).count() << ", all "
               << times.of(1).count();
  }

 private:
  std::vector<std::int64_t> millis_;
};

}  // namespace easyretry::fault
