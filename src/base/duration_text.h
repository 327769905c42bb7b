#pragma once
// Durations as people write them: 250ms, 90s, 15m, 2h, 7d.

#include <string>
#include <string_view>

#include <easyretry/time.h>

namespace easyretry::base {

// The largest single unit that is exact: 60 s is "1m", 90 s stays "90s", nothing is "0s".
std::string to_text(Millis duration);

// A whole number and one of ms, s, m (or min), h, d. Throws std::invalid_argument naming the text and the units for
// anything else: signs, fractions, spaces, several units, more than 64 bits of milliseconds.
Millis parse_duration(std::string_view text);

}  // namespace easyretry::base
