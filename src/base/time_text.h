#pragma once
// Points in time as people write them, always UTC: 2026-03-01T12:00:00Z.

#include <string>
#include <string_view>

#include <easyretry/time.h>

namespace easyretry::base {

// Always to the millisecond: 2026-03-01T12:00:00.000Z.
std::string to_text(TimePoint time);

// A date, or a date and a time of day with a Z, to the second or the millisecond. Throws std::invalid_argument naming
// the text and the form for anything else: other zones, days that no calendar has, years before 1970 or of five digits.
TimePoint parse_time(std::string_view text);

}  // namespace easyretry::base
