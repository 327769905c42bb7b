#include "base/duration_text.h"

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

std::string duration_refusal(std::string_view text) {
  return test::refusal<std::invalid_argument>([&] { parse_duration(text); });
}

TEST(DurationText, UsesTheLargestUnitThatIsExact) {
  EXPECT_EQ(to_text(250ms), "250ms");
  EXPECT_EQ(to_text(1500ms), "1500ms");
  EXPECT_EQ(to_text(1s), "1s");
  EXPECT_EQ(to_text(90s), "90s");
  EXPECT_EQ(to_text(15min), "15m");
  EXPECT_EQ(to_text(1h), "1h");
  EXPECT_EQ(to_text(36h), "36h");
  EXPECT_EQ(to_text(48h), "2d");
  EXPECT_EQ(to_text(0ms), "0s");
}

TEST(DurationText, ShowsANegativeDurationForMessages) {
  EXPECT_EQ(to_text(-5s), "-5s");
}

TEST(DurationText, ReadsEveryUnit) {
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("90s"), 90s);
  EXPECT_EQ(parse_duration("15m"), 15min);
  EXPECT_EQ(parse_duration("15min"), 15min);
  EXPECT_EQ(parse_duration("2h"), 2h);
  EXPECT_EQ(parse_duration("7d"), 168h);
}

TEST(DurationText, RefusesWithTheTextAndTheUnits) {
  for (const char* text : {"", "s", "10", "10 s", "1.5s", "1m30s", "5weeks", "+5s", "S", "5S"}) {
    EXPECT_THAT(duration_refusal(text),
                AllOf(HasSubstr("\"" + std::string{text} + "\""), HasSubstr("ms, s, m (or min), h, d")));
  }
}

TEST(DurationText, RefusesNegativesAndTooLargeValues) {
  EXPECT_THAT(duration_refusal("-5s"), HasSubstr("negative"));
  EXPECT_THAT(duration_refusal("9223372036854775808ms"), HasSubstr("too large"));
  EXPECT_THAT(duration_refusal("106751991168d"), HasSubstr("too large"));
  EXPECT_EQ(parse_duration("106751991167d"), Millis{9223372036828800000});
}

RC_GTEST_PROP(DurationText, ReadsBackEqual, ()) {
  const auto unit = *rc::gen::element<std::int64_t>(1, 1000, 60'000, 3'600'000, 86'400'000);
  const Millis duration{*rc::gen::inRange<std::int64_t>(0, 100'000) * unit};
  RC_ASSERT(parse_duration(to_text(duration)) == duration);
}

}  // namespace
}  // namespace easyretry::base
