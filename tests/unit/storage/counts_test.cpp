#include "storage/counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::storage {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::sys_days;

constexpr sys_days kMarch{std::chrono::year{2026} / 3 / 10};

TEST(Sums, OfTheSameKindAndDayAreOneRow) {
  Sums sums;
  for (int i = 0; i < 3; ++i) {
    sums.stored("shop", "pay", kMarch + i * 1h);
    sums.ended("shop", "pay", Outcome::succeeded, kMarch);
    sums.stored("shop", "ship", kMarch);
    sums.stored("bank", "pay", kMarch);
  }
  ASSERT_EQ(sums.rows().size(), 4U);
  for (const auto& [key, tasks] : sums.rows()) EXPECT_EQ(tasks, 3);
}

TEST(Sums, TheLastMillisecondOfADayIsNotTheNextDay) {
  Sums sums;
  sums.stored("shop", "pay", kMarch + days{1} - 1ms);
  sums.stored("shop", "pay", kMarch + days{1});
  EXPECT_EQ(counts_of(sums, "shop")["pay"].days,
            (std::map<sys_days, Tally>{{kMarch, {.stored = 1}}, {kMarch + days{1}, {.stored = 1}}}));
}

TEST(Sums, BeginAnewWhenTheyAreCleared) {
  Sums sums;
  sums.stored("shop", "pay", kMarch);
  sums.clear();
  EXPECT_TRUE(sums.empty());
  sums.stored("shop", "pay", kMarch);
  EXPECT_EQ(sums.rows().begin()->second, 1);
}

TEST(Sums, JoinedDaysKeepTheirTotalAndAreCountedOn) {
  Sums sums;
  for (int day = 0; day < 5; ++day) sums.stored("shop", "pay", kMarch + days{day});
  sums.join_days(kMarch + days{3});
  sums.join_days(kMarch + days{4});
  sums.stored("shop", "pay", kMarch + days{4});
  const HandlerCounts counts = counts_of(sums, "shop")["pay"];
  EXPECT_EQ(counts.total.stored, 6);
  EXPECT_EQ(counts.days, (std::map<sys_days, Tally>{{kMarch + days{4}, {.stored = 2}}}));
}

}  // namespace
}  // namespace easyretry::storage
