#include "base/time_text.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/refusal.h"

namespace easyretry::base {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

constexpr TimePoint kNoon = std::chrono::sys_days{std::chrono::year{2026} / 3 / 1} + 12h;

std::string time_refusal(std::string_view text) {
  return test::refusal<std::invalid_argument>([&] { parse_time(text); });
}

TEST(TimeText, IsUtcToTheMillisecond) {
  EXPECT_EQ(to_text(kNoon), "2026-03-01T12:00:00.000Z");
  EXPECT_EQ(to_text(kNoon + 61s + 7ms), "2026-03-01T12:01:01.007Z");
}

TEST(TimeText, ReadsDatesSecondsAndMilliseconds) {
  EXPECT_EQ(parse_time("2026-03-01"), kNoon - 12h);
  EXPECT_EQ(parse_time("2026-03-01T12:00:00Z"), kNoon);
  EXPECT_EQ(parse_time("2026-03-01T12:00:00.250Z"), kNoon + 250ms);
  EXPECT_EQ(parse_time("2028-02-29T23:59:59Z"), std::chrono::sys_days{std::chrono::year{2028} / 3 / 1} - 1s);
}

TEST(TimeText, RefusesWithTheTextAndTheForm) {
  for (const char* text : {"", "tomorrow", "2026", "2026-03", "2026-3-1", "01.03.2026", "2026-03-01T12:00:00",
                           "2026-03-01T12:00:00+01:00", "2026-03-01 12:00:00Z", "2026-03-01T12:00Z",
                           "2026-03-01T12:00:00.5Z", "2026-03-01T12:00:00ZZ", "12026-03-01", "-026-03-01"}) {
    EXPECT_THAT(time_refusal(text), AllOf(HasSubstr("time \"" + std::string{text} + "\": not a time"),
                                          HasSubstr("such as 2026-03-01T12:00:00Z")));
  }
}

TEST(TimeText, RefusesDaysAndHoursThatDoNotExist) {
  for (const char* text : {"2026-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "2026-03-01T24:00:00Z",
                           "2026-03-01T12:60:00Z", "2026-12-31T23:59:60Z"}) {
    EXPECT_THAT(time_refusal(text), HasSubstr("no such day or time of day")) << text;
  }
  EXPECT_THAT(time_refusal("1969-12-31"), HasSubstr("before 1970"));
}

RC_GTEST_PROP(TimeText, ReadsBackEqual, ()) {
  const TimePoint last = std::chrono::sys_days{std::chrono::year{9999} / 12 / 31};
  const TimePoint time{Millis{*rc::gen::inRange<std::int64_t>(0, last.time_since_epoch().count())}};
  RC_ASSERT(parse_time(to_text(time)) == time);
}

}  // namespace
}  // namespace easyretry::base
