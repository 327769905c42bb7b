#pragma once
// Time in pieces, UTC: the months, half months, weeks and days that tables are named after.
//
//   month       202501             from the 1st
//   half_month  202501a, 202501b   from the 1st, from the 16th
//   week        2025w01            from Monday; ISO 8601, so the year is that of its Thursday: 2024-12-30 is in 2025w01
//   day         20250131
//
// Names have four digits for the year, so a clock outside the years 1 to 9999 is taken for the nearest time inside.

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include <easyretry/time.h>

namespace easyretry::storage {

enum class PeriodLength { month, half_month, week, day };

std::string_view to_string(PeriodLength length);
std::optional<PeriodLength> parse_period_length(std::string_view text);  // the names above; nullopt for anything else

// Periods of one length are ordered by time, and neighbours differ by one.
struct Period {
  PeriodLength length = PeriodLength::month;
  int index = 0;

  friend auto operator<=>(const Period&, const Period&) = default;
};

TimePoint within_calendar(TimePoint time);  // the nearest one in the years 1 to 9999

Period period_at(PeriodLength length, TimePoint time);
TimePoint begin_of(Period period);
TimePoint end_of(Period period);  // where the next one begins
Period next(Period period);
Period previous(Period period);

std::string to_string(Period period);
// nullopt for what to_string does not write: other lengths, days and weeks that no calendar has.
std::optional<Period> parse_period(PeriodLength length, std::string_view name);

}  // namespace easyretry::storage
