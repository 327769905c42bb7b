#pragma once

#include <easyretry/time.h>

namespace easyretry::server {

inline constexpr Millis kLongestLease{24 * 3600 * 1000};

}  // namespace easyretry::server
