// The budget for retries alone, on virtual time.

#include "engine/retry_budget.h"

#include <gtest/gtest.h>

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

struct RetryBudgetTest : ::testing::Test {
  explicit RetryBudgetTest(double share = 0.2, double per_second = 1) { budget.set(share, per_second); }

  void earn(int first_attempts) {
    for (int i = 0; i < first_attempts; ++i) budget.earn(now);
  }
  // Starts as many of `wanted` as may.
  std::size_t start(std::size_t wanted) {
    const std::size_t granted = budget.room(now, wanted);
    budget.spend(now, granted);
    return granted;
  }
  // Retries that start in this time, of many that wait, beside so many first attempts a second.
  std::size_t started_in(std::chrono::seconds time, int first_attempts_a_second) {
    std::size_t started = 0;
    for (const Instant end = now + time; now < end; now += 100ms) {
      earn(first_attempts_a_second / 10);
      started += start(1000);
    }
    return started;
  }

  RetryBudget budget;
  Instant now = Instant{} + 1h;
};

TEST_F(RetryBudgetTest, RetriesAreAtMostTheirShareOfAllStartsAndAFewPerSecondMore) {
  const std::size_t retries = started_in(100s, 100);
  EXPECT_NEAR(static_cast<double>(retries), 0.25 * 100 * 100 + 100, 5) << "a quarter of the others is a fifth of all";
}

TEST_F(RetryBudgetTest, WithoutFirstAttemptsAFewRetriesPerSecondStart) {
  EXPECT_NEAR(static_cast<double>(started_in(60s, 0)), 60, 2);
}

TEST_F(RetryBudgetTest, FewFirstAttemptsEarnARetryTogether) {
  budget.set(0.2, 0.01);
  start(1);
  earn(3);
  EXPECT_EQ(start(1), 0U);
  earn(1);
  EXPECT_EQ(start(2), 1U);
}

TEST_F(RetryBudgetTest, AShareOfZeroLeavesThoseOfEachSecond) {
  budget.set(0, 1);
  EXPECT_NEAR(static_cast<double>(started_in(60s, 1000)), 60, 2);
}

TEST_F(RetryBudgetTest, WhatWasEarnedIsLostAfterTenSeconds) {
  earn(400);
  now += 5s;
  EXPECT_EQ(budget.room(now, 1000), 101U);
  now += 4s;
  EXPECT_EQ(start(50), 50U) << "those of the second first";
  now += 1s;
  EXPECT_EQ(budget.room(now, 1000), 1U);
}

TEST_F(RetryBudgetTest, ThoseThatWereEarnedFirstAreSpentFirst) {
  earn(40);
  now += 8s;
  earn(40);
  EXPECT_EQ(start(11), 11U);
  now += 3s;
  EXPECT_EQ(budget.room(now, 1000), 11U) << "ten that were earned three seconds ago";
}

TEST_F(RetryBudgetTest, AQuietTimeSavesUpNoMoreThanOneSecond) {
  budget.set(0.2, 5);
  start(5);
  now += 1h;
  EXPECT_EQ(budget.room(now, 1000), 5U);
}

TEST_F(RetryBudgetTest, SaysWhenTheNextRetryMayStart) {
  start(1);
  EXPECT_EQ(budget.next_start(now), Instant::max()) << "none was held back";
  EXPECT_EQ(start(1), 0U);
  const Instant next = budget.next_start(now);
  EXPECT_EQ(next, now + 1s);
  now = next - 1ms;
  EXPECT_EQ(budget.room(now, 1), 0U);
  now = next;
  EXPECT_EQ(budget.room(now, 1), 1U);
  now += 4s;
  EXPECT_EQ(budget.next_start(now), Instant::max()) << "nobody waits any more";
}

TEST_F(RetryBudgetTest, IsAskedAgainEverySecondBecauseOthersEarnAndTellNobody) {
  budget.set(0.2, 0.01);
  start(1);
  start(1);
  EXPECT_EQ(budget.next_start(now), now + 1s);
}

TEST_F(RetryBudgetTest, SaysSinceWhenItHoldsRetriesBack) {
  EXPECT_FALSE(budget.held_since());
  start(2);
  const Instant since = now;
  now += 500ms;
  start(1);
  EXPECT_EQ(budget.held_since(), since);
  earn(100);
  start(1);
  EXPECT_FALSE(budget.held_since());
  start(1000);
  budget.lift();
  EXPECT_FALSE(budget.held_since());
}

TEST_F(RetryBudgetTest, MoreThanThereIsRoomForMayBeSpentAndLeavesNoDebt) {
  budget.spend(now, 1000);
  EXPECT_EQ(budget.room(now, 1), 0U);
  now += 1s;
  EXPECT_EQ(budget.room(now, 1), 1U);
}

TEST_F(RetryBudgetTest, IsThereOnlyWhenItIsSet) {
  EXPECT_TRUE(budget.is_set());
  budget.set(std::nullopt, 1);
  EXPECT_FALSE(budget.is_set());
}

}  // namespace
}  // namespace easyretry::engine
