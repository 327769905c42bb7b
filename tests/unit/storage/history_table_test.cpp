#include <gtest/gtest.h>

#include "storage/history.h"

namespace easyretry::storage {
namespace {

using namespace std::chrono;

TEST(HistoryTables, GoByTheMonthOfTheFinish) {
  EXPECT_EQ(history_table(sys_days{2025y / 1 / 1}), "retry_task_history_202501");
  EXPECT_EQ(history_table(sys_days{2025y / 1 / 1} - 1ms), "retry_task_history_202412");
  EXPECT_EQ(history_table(sys_days{2024y / 2 / 29}), "retry_task_history_202402");
}

TEST(HistoryTables, AreToldFromAllOthers) {
  EXPECT_EQ(month_of_history_table("retry_task_history_202501"),
            period_at(PeriodLength::month, sys_days{2025y / 1 / 1}));
  for (const auto* other : {"", "retry_task", "retry_task_history", "retry_task_history_", "retry_task_history_2025",
                            "retry_task_history_202513", "retry_task_history_202501_0", "retry_task_history_backup",
                            "retry_task_202501", "old_retry_task_history_202501"}) {
    EXPECT_FALSE(month_of_history_table(other)) << other;
  }
}

TEST(HistoryTables, OutsideARangeOfTimeAreNotSearched) {
  const Period january = period_at(PeriodLength::month, sys_days{2025y / 1 / 1});
  const TimePoint begin = sys_days{2025y / 1 / 1};
  const TimePoint end = sys_days{2025y / 2 / 1};
  EXPECT_TRUE(overlaps(january, {}));
  EXPECT_TRUE(overlaps(january, {.from = end - 1ms}));
  EXPECT_FALSE(overlaps(january, {.from = end}));
  EXPECT_TRUE(overlaps(january, {.until = begin + 1ms}));
  EXPECT_FALSE(overlaps(january, {.until = begin}));
  EXPECT_TRUE(overlaps(january, {begin - 24h, end + 24h}));
}

}  // namespace
}  // namespace easyretry::storage
