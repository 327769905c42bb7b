#pragma once
// The months, half months, weeks and days, UTC, that tables are named after.
//
//   month       202501             from the 1st
//   half_month  202501a, 202501b   from the 1st, from the 16th
//   week        2025w01            from Monday; ISO 8601: the year is that of its Thursday, so 2024-12-30 is in 2025w01
//   day         20250131
//
// The year in a name has four digits, so a time outside the years 1 to 9999 counts as the nearest time within them.

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include <easyretry/time.h>

namespace easyretry::storage {

enum class PeriodLength { month, half_month, week, day };

std::string_view to_string(PeriodLength length);
std::optional<PeriodLength> parse_period_length(std::string_view text);  // the names above; nullopt for anything else

// Periods of the same length are ordered by time; the index of the next one is greater by 1.
struct Period {
  PeriodLength length = PeriodLength::month;
  int index = 0;

  friend auto operator<=>(const Period&, const Period&) = default;
};

TimePoint within_calendar(TimePoint time);  // the nearest time in the years 1 to 9999

Period period_at(PeriodLength length, TimePoint time);
TimePoint begin_of(Period period);
TimePoint end_of(Period period);  // when the next one begins
Period next(Period period);
Period previous(Period period);

std::string to_string(Period period);
// nullopt for any text that to_string() does not write: another length, or a day or week that does not exist.
std::optional<Period> parse_period(PeriodLength length, std::string_view name);

}  // namespace easyretry::storage
