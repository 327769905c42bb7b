#pragma once

#include <chrono>

#include <easyretry/time.h>

namespace easyretry::policy {

// Beyond any use, and far from where adding it to a time could overflow.
inline constexpr Millis kLongestDelay = std::chrono::years{10};

}  // namespace easyretry::policy
