#include "server/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Lateness kBounds{.warn_above = 10s, .fail_above = 60s};

TEST(LateTasks, AreFineIfAllWereLookedAtAndNoneIsLate) {
  const Finding finding = late_tasks({.handlers = {{"mail", 10s}}}, kBounds, "look");
  EXPECT_EQ(finding.health, Health::ok);
  EXPECT_EQ(finding.code, "late_none");
}

// Otherwise a store full of tasks of paused handlers would be called healthy, whatever stands behind them.
TEST(LateTasks, AreAFailureIfNotAllWereLookedAt) {
  const Finding finding = late_tasks({.handlers = {{"mail", 10s}}, .complete = false}, kBounds, "look");
  EXPECT_EQ(finding.health, Health::fail);
  EXPECT_EQ(finding.code, "late_incomplete");
  EXPECT_THAT(finding.todo, HasSubstr("easyretry handlers"))
      << "not how to find workers: nobody knows whether it helps";
}

TEST(LateTasks, AreAWarningUntilOneIsLateEnoughToBeAFailure) {
  const Late late{.handlers = {{"mail", 11s}, {"pay", 60s}}};
  const Finding finding = late_tasks(late, kBounds, "look");
  EXPECT_EQ(finding.health, Health::warn);
  EXPECT_THAT(finding.what, AllOf(HasSubstr("mail"), HasSubstr("pay")));
  EXPECT_EQ(finding.todo, "look");
}

TEST(LateTasks, NameTheHandlersThatFailBeforeThoseThatAreLessLate) {
  const Late late{.handlers = {{"mail", 11s}, {"pay", 61s}, {"report", 1s}}, .complete = false};
  const Finding finding = late_tasks(late, kBounds, "look");
  EXPECT_EQ(finding.health, Health::fail);
  EXPECT_EQ(finding.code, "late_and_less_late");
  EXPECT_LT(finding.what.find("pay"), finding.what.find("mail"));
  EXPECT_THAT(finding.what, Not(HasSubstr("report")));
}

}  // namespace
}  // namespace easyretry::server
