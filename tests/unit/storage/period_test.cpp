#include "storage/period.h"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace easyretry::storage {
namespace {

using namespace std::chrono;
using enum PeriodLength;

constexpr PeriodLength kLengths[] = {month, half_month, week, day};

TimePoint on(int year_number, unsigned month_number, unsigned day_number) {
  return sys_days{year{year_number} / static_cast<int>(month_number) / static_cast<int>(day_number)};
}

std::string name_at(PeriodLength length, TimePoint time) {
  return to_string(period_at(length, time));
}

Period named(PeriodLength length, std::string_view name) {
  return parse_period(length, name).value();
}

// Both ends of the calendar and a millisecond beyond, and the years in which programs run.
TimePoint any_time() {
  const auto wide =
      rc::gen::inRange(on(1, 1, 1).time_since_epoch().count(), on(9999, 12, 31).time_since_epoch().count());
  const auto near =
      rc::gen::inRange(on(1960, 1, 1).time_since_epoch().count(), on(2090, 1, 1).time_since_epoch().count());
  return TimePoint{Millis{*rc::gen::oneOf(wide, near)}};
}

PeriodLength any_length() {
  return *rc::gen::elementOf(std::vector<PeriodLength>(std::begin(kLengths), std::end(kLengths)));
}

TEST(Periods, AreNamedByTheirDateInUtc) {
  const TimePoint time = on(2025, 1, 31) + 23h + 59min + 59s + 999ms;
  EXPECT_EQ(name_at(month, time), "202501");
  EXPECT_EQ(name_at(half_month, time), "202501b");
  EXPECT_EQ(name_at(week, time), "2025w05");
  EXPECT_EQ(name_at(day, time), "20250131");
  EXPECT_EQ(name_at(month, time + 1ms), "202502");
  EXPECT_EQ(name_at(half_month, time + 1ms), "202502a");
  EXPECT_EQ(name_at(day, time + 1ms), "20250201");
}

TEST(Periods, AHalfMonthEndsBeforeThe16th) {
  EXPECT_EQ(name_at(half_month, on(2025, 2, 16) - 1ms), "202502a");
  EXPECT_EQ(name_at(half_month, on(2025, 2, 16)), "202502b");
  EXPECT_EQ(begin_of(named(half_month, "202502b")), on(2025, 2, 16));
  EXPECT_EQ(end_of(named(half_month, "202502b")), on(2025, 3, 1));
}

TEST(Periods, KnowLeapDays) {
  EXPECT_EQ(name_at(day, on(2024, 2, 29)), "20240229");
  EXPECT_EQ(name_at(day, on(2028, 3, 1) - 1ms), "20280229");
  EXPECT_EQ(end_of(named(month, "202402")) - begin_of(named(month, "202402")), days{29});
  EXPECT_EQ(end_of(named(month, "202502")) - begin_of(named(month, "202502")), days{28});
  EXPECT_EQ(end_of(named(half_month, "202802b")) - begin_of(named(half_month, "202802b")), days{14});
  EXPECT_FALSE(parse_period(day, "20250229"));
  EXPECT_FALSE(parse_period(day, "19000229"));
  EXPECT_TRUE(parse_period(day, "20000229"));
}

TEST(Periods, GoOnOverTheEndOfTheYear) {
  EXPECT_EQ(to_string(next(named(month, "202412"))), "202501");
  EXPECT_EQ(to_string(previous(named(month, "202501"))), "202412");
  EXPECT_EQ(to_string(next(named(half_month, "202412b"))), "202501a");
  EXPECT_EQ(to_string(next(named(week, "2024w52"))), "2025w01");
  EXPECT_EQ(to_string(previous(named(day, "20250101"))), "20241231");
}

// The table of ISO 8601's own edge cases: the year of a week is that of its Thursday.
TEST(Periods, AWeekBelongsToTheYearOfItsThursday) {
  EXPECT_EQ(name_at(week, on(2025, 1, 1)), "2025w01");
  EXPECT_EQ(name_at(week, on(2024, 12, 30)), "2025w01");
  EXPECT_EQ(name_at(week, on(2024, 12, 29)), "2024w52");
  EXPECT_EQ(name_at(week, on(2005, 1, 1)), "2004w53");
  EXPECT_EQ(name_at(week, on(2008, 12, 29)), "2009w01");
  EXPECT_EQ(name_at(week, on(2010, 1, 3)), "2009w53");
  EXPECT_EQ(begin_of(named(week, "2025w01")), on(2024, 12, 30));
}

TEST(Periods, SomeYearsHaveAWeek53) {
  EXPECT_EQ(name_at(week, on(2020, 12, 31)), "2020w53");
  EXPECT_EQ(name_at(week, on(2021, 1, 3)), "2020w53");
  EXPECT_EQ(name_at(week, on(2021, 1, 4)), "2021w01");
  EXPECT_EQ(to_string(next(named(week, "2020w53"))), "2021w01");
  EXPECT_FALSE(parse_period(week, "2021w53"));
  EXPECT_FALSE(parse_period(week, "2025w53"));
  EXPECT_TRUE(parse_period(week, "2026w53"));
}

TEST(Periods, WorkBefore1970) {
  EXPECT_EQ(name_at(day, on(1970, 1, 1) - 1ms), "19691231");
  EXPECT_EQ(name_at(week, on(1970, 1, 1) - 1ms), "1970w01");
  EXPECT_EQ(name_at(week, on(1969, 12, 29) - 1ms), "1969w52");
  EXPECT_EQ(name_at(month, on(1970, 1, 1) - 1ms), "196912");
  EXPECT_EQ(name_at(half_month, on(1900, 2, 28)), "190002b");
}

TEST(Periods, AClockGoneMadStillNamesOne) {
  EXPECT_EQ(name_at(day, TimePoint::min()), "00010101");
  EXPECT_EQ(name_at(week, TimePoint::min()), "0001w01");
  EXPECT_EQ(name_at(day, TimePoint::max()), "99991231");
  EXPECT_EQ(name_at(week, TimePoint::max()), "9999w52");
  for (const auto length : kLengths) {
    EXPECT_TRUE(parse_period(length, name_at(length, TimePoint::min())));
    EXPECT_TRUE(parse_period(length, name_at(length, TimePoint::max())));
    EXPECT_FALSE(parse_period(length, to_string(previous(period_at(length, TimePoint::min())))));
    EXPECT_FALSE(parse_period(length, to_string(next(period_at(length, TimePoint::max())))));
  }
}

TEST(Periods, AreReadOnlyAsTheyAreWritten) {
  for (const auto* other :
       {"", "2025", "20251", "202500", "202513", "2025011", "20250101", "202501a", "2025w01", "2025-1", " 202501",
        "+20251", "-20251", "-00101", "000001", "2025o1", "backup", "history"}) {
    EXPECT_FALSE(parse_period(month, other)) << other;
  }
  for (const auto* other : {"", "202501", "202501c", "202501A", "202501ab", "202513a", "20251a", "b", "202501 a"}) {
    EXPECT_FALSE(parse_period(half_month, other)) << other;
  }
  for (const auto* other : {"", "2025", "2025w", "2025w1", "2025w00", "2025w54", "2025W01", "2025-01", "2025w001", "w",
                            "0000w01", "-001w01", "2025w-1"}) {
    EXPECT_FALSE(parse_period(week, other)) << other;
  }
  for (const auto* other :
       {"", "202501", "2025011", "20250132", "20250100", "20251301", "202501011", "00000101", "2025-1-1"}) {
    EXPECT_FALSE(parse_period(day, other)) << other;
  }
}

TEST(PeriodLengths, AreWrittenAndReadByName) {
  for (const auto length : kLengths) EXPECT_EQ(parse_period_length(to_string(length)), length);
  EXPECT_FALSE(parse_period_length("year"));
  EXPECT_FALSE(parse_period_length("Month"));
}

TEST(Periods, EveryOneOfFourCenturiesBeginsWhereTheLastEnds) {
  for (const auto length : kLengths) {
    std::set<std::string> names;
    const Period last = period_at(length, on(2300, 1, 1));
    int count = 0;
    for (Period period = period_at(length, on(1900, 1, 1)); period <= last; period = next(period), ++count) {
      const TimePoint begin = begin_of(period);
      ASSERT_EQ(period_at(length, begin), period) << to_string(period);
      ASSERT_EQ(period_at(length, begin - 1ms), previous(period)) << to_string(period);
      ASSERT_EQ(end_of(previous(period)), begin) << to_string(period);
      ASSERT_EQ(parse_period(length, to_string(period)), period);
      names.insert(to_string(period));
    }
    EXPECT_EQ(static_cast<int>(names.size()), count) << to_string(length);
  }
}

RC_GTEST_PROP(Periods, ATimeIsInExactlyOne, ()) {
  const TimePoint time = any_time();
  const Period period = period_at(any_length(), time);
  RC_ASSERT(begin_of(period) <= time);
  RC_ASSERT(time < end_of(period));
  RC_ASSERT(end_of(period) == begin_of(next(period)));
  RC_ASSERT(begin_of(period) == end_of(previous(period)));
}

RC_GTEST_PROP(Periods, AreReadBackFromTheirName, ()) {
  const Period period = period_at(any_length(), any_time());
  RC_ASSERT(parse_period(period.length, to_string(period)) == period);
  for (const auto other : kLengths) {
    if (other != period.length) RC_ASSERT(!parse_period(other, to_string(period)));
  }
}

RC_GTEST_PROP(Periods, NamesSortLikeTimes, ()) {
  const PeriodLength length = any_length();
  const Period a = period_at(length, any_time());
  const Period b = period_at(length, any_time());
  RC_ASSERT((a < b) == (to_string(a) < to_string(b)));
}

RC_GTEST_PROP(Periods, AnyTextIsReadOrRefusedWithoutHarm, (const std::string& text)) {
  for (const auto length : kLengths) {
    const auto period = parse_period(length, text);
    if (period) RC_ASSERT(to_string(*period) == text);
  }
}

}  // namespace
}  // namespace easyretry::storage
