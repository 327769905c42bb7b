#pragma once

#include <chrono>

#include <easyretry/time.h>

namespace easyretry::policy {

// Longer than anybody needs, and far from overflow when added to a time.
inline constexpr Millis kLongestDelay = std::chrono::years{10};

}  // namespace easyretry::policy
