#include "storage/period.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace easyretry::storage {
namespace {

using namespace std::chrono;

constexpr year_month kFirstMonth{0y, January};
constexpr day kSecondHalf{16};
constexpr days kMondayBefore1970{3};  // 1970 began on a Thursday

int months_since_first(year_month_day date) {
  return static_cast<int>((date.year() / date.month() - kFirstMonth).count());
}

sys_days first_of_month(int index) {
  return sys_days{(kFirstMonth + months{index}) / 1};
}

sys_days first_day(Period period) {
  switch (period.length) {
    case PeriodLength::month: return first_of_month(period.index);
    case PeriodLength::half_month: {
      const bool second = period.index % 2 != 0;
      return first_of_month((period.index - (second ? 1 : 0)) / 2) + (second ? kSecondHalf - day{1} : days{0});
    }
    case PeriodLength::week: return sys_days{weeks{period.index}} - kMondayBefore1970;
    case PeriodLength::day: break;
  }
  return sys_days{days{period.index}};
}

sys_days thursday_of(Period week) {
  return first_day(week) + days{3};
}

// The 4th of January is always in the first ISO week of its year.
Period first_week_of(year of) {
  return period_at(PeriodLength::week, sys_days{of / January / 4});
}

std::string week_name(Period week) {
  const year iso_year = year_month_day{thursday_of(week)}.year();
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%04dw%02d", static_cast<int>(iso_year),
                week.index - first_week_of(iso_year).index + 1);
  return text.data();
}

std::string date_name(Period period) {
  const year_month_day date{first_day(period)};
  std::array<char, 32> text;
  const int size = std::snprintf(text.data(), text.size(), "%04d%02u%02u", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  std::string name{text.data(), static_cast<std::size_t>(size)};
  if (period.length == PeriodLength::day) return name;
  name.resize(name.size() - 2);
  if (period.length == PeriodLength::half_month) name += date.day() < kSecondHalf ? 'a' : 'b';
  return name;
}

// 0, which is no valid year, month, day or week, if these are not all digits.
int number(std::string_view text, std::size_t at, std::size_t digits) {
  const std::string_view part = text.substr(std::min(at, text.size()), digits);
  int value = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  return error == std::errc{} && end == part.data() + digits ? value : 0;
}

// A day in the period of a well-formed name; any day, or nullopt, for a malformed name.
std::optional<sys_days> day_in(PeriodLength length, std::string_view name) {
  const year named{number(name, 0, 4)};
  if (length == PeriodLength::week) return first_day(first_week_of(named)) + weeks{number(name, 5, 2) - 1};
  const auto month_number = static_cast<unsigned>(number(name, 4, 2));
  auto day_number = 1U;
  if (length == PeriodLength::day) day_number = static_cast<unsigned>(number(name, 6, 2));
  if (length == PeriodLength::half_month && name.ends_with('b')) day_number = static_cast<unsigned>(kSecondHalf);
  const year_month_day date{named, month{month_number}, day{day_number}};
  if (!date.ok()) return std::nullopt;
  return sys_days{date};
}

}  // namespace

std::string_view to_string(PeriodLength length) {
  switch (length) {
    case PeriodLength::month: return "month";
    case PeriodLength::half_month: return "half_month";
    case PeriodLength::week: return "week";
    case PeriodLength::day: return "day";
  }
  return "unknown";
}

std::optional<PeriodLength> parse_period_length(std::string_view text) {
  for (const auto length : {PeriodLength::month, PeriodLength::half_month, PeriodLength::week, PeriodLength::day}) {
    if (to_string(length) == text) return length;
  }
  return std::nullopt;
}

TimePoint within_calendar(TimePoint time) {
  constexpr TimePoint kFirst{sys_days{1y / January / 1}};
  constexpr TimePoint kLast{sys_days{10000y / January / 1} - Millis{1}};
  return std::clamp(time, kFirst, kLast);
}

Period period_at(PeriodLength length, TimePoint time) {
  const auto day = floor<days>(within_calendar(time));
  const year_month_day date{day};
  switch (length) {
    case PeriodLength::month: return {length, months_since_first(date)};
    case PeriodLength::half_month: return {length, months_since_first(date) * 2 + (date.day() < kSecondHalf ? 0 : 1)};
    case PeriodLength::week:
      return {length, static_cast<int>(floor<weeks>(day + kMondayBefore1970).time_since_epoch().count())};
    case PeriodLength::day: break;
  }
  return {length, static_cast<int>(day.time_since_epoch().count())};
}

TimePoint begin_of(Period period) {
  return first_day(period);
}

TimePoint end_of(Period period) {
  return begin_of(next(period));
}

Period next(Period period) {
  return {period.length, period.index + 1};
}

Period previous(Period period) {
  return {period.length, period.index - 1};
}

std::string to_string(Period period) {
  return period.length == PeriodLength::week ? week_name(period) : date_name(period);
}

std::optional<Period> parse_period(PeriodLength length, std::string_view name) {
  const auto day = day_in(length, name);
  if (!day) return std::nullopt;
  const Period period = period_at(length, *day);
  if (to_string(period) != name) return std::nullopt;
  return period;
}

}  // namespace easyretry::storage
