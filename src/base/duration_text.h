#pragma once
// Durations as people write them: 250ms, 90s, 15m, 2h, 7d.

#include <string>
#include <string_view>

#include <easyretry/time.h>

namespace easyretry::base {

// In the largest single unit that is exact: 60 s is "1m", 90 s is "90s", zero is "0s".
std::string to_text(Millis duration);

// For display, in one unit and rounded down: "45 s", "3 min", "2 h", "5 days".
std::string age_text(Millis age);

// Reads a whole number and one of ms, s, m (or min), h, d. For anything else (signs, fractions, spaces, several units,
// more than 64 bits of milliseconds) throws std::invalid_argument, which names the text and the units.
Millis parse_duration(std::string_view text);

}  // namespace easyretry::base
