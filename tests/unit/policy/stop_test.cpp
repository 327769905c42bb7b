#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "policy/decide.h"

namespace easyretry::policy {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kCreated = std::chrono::sys_days{std::chrono::year{2026} / 3 / 1} + 12h;
constexpr Stop kNoLimit{.max_attempts = 0};

std::string reason(const Stop& stop, int attempts, Millis age = 0ms) {
  return stop_reason(stop, attempts, kCreated, kCreated + age).value_or("goes on");
}

TEST(Stop, WithoutLimitsNeverStops) {
  EXPECT_EQ(reason(kNoLimit, 2'000'000'000, 87600h), "goes on");
}

TEST(Stop, StopsAtMaxAttempts) {
  const Stop stop{.max_attempts = 5};
  EXPECT_EQ(reason(stop, 4), "goes on");
  EXPECT_EQ(reason(stop, 5), "5 attempts made (max_attempts = 5)");
  EXPECT_EQ(reason(stop, 6), "6 attempts made (max_attempts = 5)");
  EXPECT_EQ(reason(Stop{.max_attempts = 1}, 1), "1 attempt made (max_attempts = 1)");
}

TEST(Stop, StopsWhereTheNextAttemptWouldBeTooLate) {
  const Stop stop{.max_attempts = 0, .max_duration = 1h};
  EXPECT_EQ(reason(stop, 1, 1h), "goes on");
  EXPECT_EQ(reason(stop, 1, 1h + 1ms),
            "the next attempt would start 3600001ms after the task was stored (max_duration = 1h)");
}

TEST(Stop, StopsAtTheDeadline) {
  const Stop stop{.max_attempts = 0, .deadline = kCreated + 10min};
  EXPECT_EQ(reason(stop, 1, 10min), "goes on");
  EXPECT_EQ(reason(stop, 1, 10min + 5ms),
            "the next attempt would start at 2026-03-01T12:10:00.005Z (deadline = 2026-03-01T12:10:00.000Z)");
}

TEST(Stop, NamesTheFirstRuleThatStops) {
  const Stop stop{.max_attempts = 3, .max_duration = 1h, .deadline = kCreated + 2h};
  EXPECT_EQ(reason(stop, 2, 1h), "goes on");
  EXPECT_EQ(reason(stop, 3, 3h), "3 attempts made (max_attempts = 3)");
  EXPECT_EQ(reason(stop, 2, 3h), "the next attempt would start 3h after the task was stored (max_duration = 1h)");
}

TEST(Stop, DoesNotOverflowWithAnEndlessDuration) {
  EXPECT_EQ(reason(Stop{.max_attempts = 0, .max_duration = Millis::max()}, 1, 87600h), "goes on");
}

RC_GTEST_PROP(Stop, AnyOneRuleStops, ()) {
  const Stop stop{.max_attempts = *rc::gen::inRange(0, 5),
                  .max_duration = Millis{*rc::gen::inRange(0, 5)},
                  .deadline = *rc::gen::element<std::optional<TimePoint>>(std::nullopt, kCreated + 2ms)};
  const int attempts = *rc::gen::inRange(0, 6);
  const Millis age{*rc::gen::inRange(0, 6)};
  const bool expected = (stop.max_attempts > 0 && attempts >= stop.max_attempts) ||
                        (stop.max_duration > 0ms && age > stop.max_duration) || (stop.deadline && age > 2ms);
  RC_ASSERT(stop_reason(stop, attempts, kCreated, kCreated + age).has_value() == expected);
}

}  // namespace
}  // namespace easyretry::policy
