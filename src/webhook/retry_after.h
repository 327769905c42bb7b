#pragma once

#include <optional>
#include <string_view>

#include <easyretry/time.h>

namespace easyretry::webhook {

// Nobody is believed who asks for more: a task would seem to be forgotten.
inline constexpr Millis kLongestRetryAfter = std::chrono::hours{24};

// The value of Retry-After: seconds, or a date of HTTP. From nothing, where the date has passed, to a day. Nullopt: it
// is neither. Pure.
std::optional<Millis> parse_retry_after(std::string_view value, TimePoint now);

}  // namespace easyretry::webhook
