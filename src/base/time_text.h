#pragma once
// Points in time as people write them, always UTC: 2026-03-01T12:00:00Z.

#include <string>
#include <string_view>

#include <easyretry/time.h>

namespace easyretry::base {

// Always to the millisecond: 2026-03-01T12:00:00.000Z.
std::string to_text(TimePoint time);

// Reads a date, or a date and a time of day with a Z, to the second or the millisecond. For anything else (other zones,
// days that do not exist, years before 1970 or with five digits) throws std::invalid_argument, which names the text and
// the format.
TimePoint parse_time(std::string_view text);

}  // namespace easyretry::base
