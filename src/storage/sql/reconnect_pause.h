#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/random.h"

namespace easyretry::storage::sql {

// After the n-th connection in a row that failed: 50 ms doubling to 2 s, half of it by chance, so that instances do not
// come back together.
inline std::chrono::microseconds reconnect_pause(int failures, base::Random& random) {
  const double millis = std::min(2000.0, 50.0 * static_cast<double>(1 << std::min(failures, 6)));
  return std::chrono::microseconds{static_cast<std::int64_t>(millis * (0.5 + random.unit() / 2) * 1000)};
}

}  // namespace easyretry::storage::sql
