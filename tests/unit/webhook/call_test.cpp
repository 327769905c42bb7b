#include "webhook/call.h"

#include <array>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace easyretry::webhook {
namespace {

using namespace std::chrono_literals;

// Sunday
constexpr TimePoint kNow = std::chrono::sys_days{std::chrono::year{1994} / 11 / 6} + 8h + 49min + 37s;

TEST(RetryAfter, IsANumberOfSeconds) {
  EXPECT_EQ(parse_retry_after("120", kNow), 120s);
  EXPECT_EQ(parse_retry_after("0", kNow), 0s);
  EXPECT_EQ(parse_retry_after(" 007\t\r\n", kNow), 7s);
}

TEST(RetryAfter, IsADateInAnyOfTheThreeFormsOfHttp) {
  for (const char* date :
       {"Sun, 06 Nov 1994 08:50:37 GMT", "Sunday, 06-Nov-94 08:50:37 GMT", "Sun Nov  6 08:50:37 1994"}) {
    EXPECT_EQ(parse_retry_after(date, kNow), 60s) << date;
  }
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:50:37 GMT", kNow + 250ms), 59'750ms);
}

TEST(RetryAfter, IsNowIfTheDateHasPassed) {
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:36 GMT", kNow), 0s);
  EXPECT_EQ(parse_retry_after("Thu, 01 Jan 1970 00:00:00 GMT", kNow), 0s);
}

TEST(RetryAfter, IsADayAtTheMost) {
  EXPECT_EQ(parse_retry_after("86400", kNow), 24h);
  EXPECT_EQ(parse_retry_after("86401", kNow), 24h);
  EXPECT_EQ(parse_retry_after("99999999999999999999999999", kNow), 24h);
  EXPECT_EQ(parse_retry_after("Tue, 08 Nov 1994 08:49:37 GMT", kNow), 24h);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 9999 08:49:37 GMT", kNow), 24h);
}

TEST(RetryAfter, IsNothingElse) {
  for (const char* text : {"", " ", "soon", "-1", "+1", "1.5", "1e3", "0x10", "12 apples",
                           "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 99:49:37 GMT", "1,2"}) {
    EXPECT_EQ(parse_retry_after(text, kNow), std::nullopt) << text;
  }
  EXPECT_EQ(parse_retry_after(std::string_view{"12\0", 3}, kNow), std::nullopt);
}

std::string http_date(std::chrono::sys_seconds time) {
  const std::time_t seconds = time.time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return text.data();
}

RC_GTEST_PROP(RetryAfter, OfADateIsTheTimeUntilThenWithinItsBounds, ()) {
  const auto now = kNow + Millis{*rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000)};
  const auto then =
      std::chrono::floor<std::chrono::seconds>(now) + std::chrono::seconds{*rc::gen::inRange(-200'000, 200'000)};
  RC_ASSERT(parse_retry_after(http_date(then), now) == std::clamp<Millis>(then - now, 0s, 24h));
}

RC_GTEST_PROP(RetryAfter, OfAnyTextIsNothingOrWithinItsBounds, ()) {
  const auto text =
      *rc::gen::oneOf(rc::gen::container<std::string>(rc::gen::elementOf(std::string{"0123456789 :,-+SunNovGMT\t"})),
                      rc::gen::arbitrary<std::string>());
  const TimePoint now{Millis{*rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000)}};
  const Millis wait = parse_retry_after(text, now).value_or(0ms);
  RC_ASSERT(wait >= 0ms);
  RC_ASSERT(wait <= kLongestRetryAfter);
}

}  // namespace
}  // namespace easyretry::webhook
