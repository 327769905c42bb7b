#pragma once

#include <cstdint>

#include "base/random.h"

namespace easyretry::storage::sql {

// An id for a row that nobody looks up. It is random, not drawn by the server: in the application's transaction, a
// number that the server drew would change what LAST_INSERT_ID() and lastval() return. With 63 bits, no id is drawn
// twice.
inline std::int64_t row_id(base::Random& random) {
  return static_cast<std::int64_t>(random.next() >> 1U);
}

}  // namespace easyretry::storage::sql
