#pragma once

#include <cstdint>

#include "base/random.h"

namespace easyretry::storage::sql {

// For rows that nobody looks for, given to the server instead of drawn by it: in somebody else's transaction a number
// that the server drew would be what LAST_INSERT_ID() and lastval() tell them. Of 63 bits none is drawn twice.
inline std::int64_t row_id(base::Random& random) {
  return static_cast<std::int64_t>(random.next() >> 1U);
}

}  // namespace easyretry::storage::sql
