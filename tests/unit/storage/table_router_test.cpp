#include "storage/table_router.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/storage/routing.h"

namespace easyretry::storage {
namespace {

using namespace std::chrono;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const TableRouter kSingle{Layout::single(), kShards};
const TableRouter kHash{Layout::hash(16), kShards};
const TableRouter kMonths{Layout::period(PeriodLength::month, 2), kShards};
const TableRouter kDays{Layout::period(PeriodLength::day), kShards};

const TimePoint kMidJanuary = on(2025, 1, 15);

std::vector<std::string> names(const TableRouter& router, const std::vector<TableId>& tables) {
  std::vector<std::string> names;
  for (const TableId table : tables) names.push_back(router.name(table));
  return names;
}

std::vector<std::string> names(const TableRouter& router, const std::vector<ShardsOfTable>& tables) {
  std::vector<std::string> names;
  for (const ShardsOfTable& table : tables) names.push_back(router.name(table.table));
  return names;
}

// Shard i belongs to instance i mod n.
std::vector<ShardId> stride(int instance, int instances) {
  std::vector<ShardId> shards;
  for (int number = instance; number < kShards; number += instances) shards.push_back(shard(number));
  return shards;
}

TEST(TablesOfRows, ASingleTableHoldsAll) {
  EXPECT_EQ(kSingle.name(kSingle.table_of(kMidJanuary, shard(33))), "retry_task");
  EXPECT_EQ(kSingle.table_of(kMidJanuary, shard(33)), kSingle.table_of(TimePoint{}, shard(0)));
}

TEST(TablesOfRows, Shards0And16And32And48AreInTable0Of16) {
  for (const int number : {0, 16, 32, 48}) {
    EXPECT_EQ(kHash.name(kHash.table_of(kMidJanuary, shard(number))), "retry_task_0");
  }
  for (const int number : {1, 17, 33, 49}) {
    EXPECT_EQ(kHash.name(kHash.table_of(kMidJanuary, shard(number))), "retry_task_1");
  }
  EXPECT_EQ(kHash.name(kHash.table_of(kMidJanuary, shard(63))), "retry_task_15");
}

TEST(TablesOfRows, Shard33OfJanuaryIsInTable1OfJanuary) {
  EXPECT_EQ(kMonths.name(kMonths.table_of(kMidJanuary, shard(33))), "retry_task_202501_1");
  EXPECT_EQ(kMonths.name(kMonths.table_of(id_of(kMidJanuary, 33))), "retry_task_202501_1");
}

TEST(TablesOfRows, ThePeriodChangesAtMidnightUtc) {
  const TimePoint february = on(2025, 2, 1);
  EXPECT_EQ(kMonths.name(kMonths.table_of(february - 1ms, shard(0))), "retry_task_202501_0");
  EXPECT_EQ(kMonths.name(kMonths.table_of(february, shard(0))), "retry_task_202502_0");
  EXPECT_EQ(kDays.name(kDays.table_of(on(2024, 2, 29), shard(7))), "retry_task_20240229_0");
}

TEST(TablesOfRows, EveryLengthHasItsNames) {
  const auto name = [](PeriodLength length) {
    const TableRouter router{Layout::period(length, 4), kShards};
    return router.name(router.table_of(on(2024, 12, 31), shard(7)));
  };
  EXPECT_EQ(name(PeriodLength::month), "retry_task_202412_3");
  EXPECT_EQ(name(PeriodLength::half_month), "retry_task_202412b_3");
  EXPECT_EQ(name(PeriodLength::week), "retry_task_2025w01_3");
  EXPECT_EQ(name(PeriodLength::day), "retry_task_20241231_3");
}

// Ids borrow from the next millisecond, which may be another month; the row is where its id says.
TEST(TablesOfRows, AnIdBorrowedFromTheNextMonthIsInTheNextMonthsTable) {
  const TimePoint last = on(2025, 2, 1) - 1ms;
  task::TaskIdSource source{0};
  TaskId id{};
  for (int i = 0; i <= 1024; ++i) id = source.next(last, shard(0));
  EXPECT_EQ(kMonths.name(kMonths.table_of(id)), "retry_task_202502_0");
  EXPECT_THAT(kMonths.moved_to(id, last), IsEmpty());
}

TEST(TablesOfAScan, OneOf8InstancesReadsTwo) {
  EXPECT_THAT(names(kMonths, tables_for(kMonths, stride(0, 8), kMidJanuary)),
              ElementsAre("retry_task_202412_0", "retry_task_202501_0"));
  EXPECT_THAT(names(kMonths, tables_for(kMonths, stride(1, 8), kMidJanuary)),
              ElementsAre("retry_task_202412_1", "retry_task_202501_1"));
  for (int instance = 0; instance < 8; ++instance) {
    EXPECT_EQ(tables_for(kMonths, stride(instance, 8), kMidJanuary).size(), 2U) << instance;
  }
}

TEST(TablesOfAScan, OneOf9InstancesReadsFour) {
  EXPECT_THAT(names(kMonths, tables_for(kMonths, stride(0, 9), kMidJanuary)),
              ElementsAre("retry_task_202412_0", "retry_task_202412_1", "retry_task_202501_0", "retry_task_202501_1"));
  for (int instance = 0; instance < 9; ++instance) {
    EXPECT_EQ(tables_for(kMonths, stride(instance, 9), kMidJanuary).size(), 4U) << instance;
  }
}

// February is shorter than the window, and the window is shorter than March.
TEST(TablesOfAScan, AMonthsWindowIsOneToThreeMonths) {
  const auto even = stride(0, 8);
  EXPECT_THAT(names(kMonths, tables_for(kMonths, even, on(2025, 3, 1))),
              ElementsAre("retry_task_202501_0", "retry_task_202502_0", "retry_task_202503_0"));
  EXPECT_THAT(names(kMonths, tables_for(kMonths, even, on(2025, 3, 3) - 1ms)),
              ElementsAre("retry_task_202501_0", "retry_task_202502_0", "retry_task_202503_0"));
  EXPECT_THAT(names(kMonths, tables_for(kMonths, even, on(2025, 3, 3))),
              ElementsAre("retry_task_202502_0", "retry_task_202503_0"));
  EXPECT_THAT(names(kMonths, tables_for(kMonths, even, on(2025, 3, 31))), ElementsAre("retry_task_202503_0"));
  EXPECT_THAT(names(kMonths, tables_for(kMonths, even, on(2024, 3, 2))),
              ElementsAre("retry_task_202402_0", "retry_task_202403_0"));
}

TEST(TablesOfAScan, EachComesWithItsShards) {
  const std::vector<ShardId> shards{shard(33), shard(0), shard(2), shard(33), shard(1)};
  EXPECT_THAT(tables_for(kSingle, shards, kMidJanuary),
              ElementsAre(ShardsOfTable{{0, 0}, {shard(0), shard(1), shard(2), shard(33)}}));
  EXPECT_THAT(tables_for(kHash, shards, kMidJanuary),
              ElementsAre(ShardsOfTable{{0, 0}, {shard(0)}}, ShardsOfTable{{0, 1}, {shard(1), shard(33)}},
                          ShardsOfTable{{0, 2}, {shard(2)}}));
  EXPECT_EQ(tables_for(kMonths, shards, kMidJanuary).back().shards, (std::vector{shard(1), shard(33)}));
}

TEST(TablesOfAScan, NoShardsNeedNoTables) {
  for (const auto& router : {kSingle, kHash, kMonths}) EXPECT_THAT(tables_for(router, {}, kMidJanuary), IsEmpty());
}

TEST(TablesThatExist, AreThoseOfTheWindowAndThePeriodAhead) {
  EXPECT_THAT(names(kSingle, kSingle.all_tables(kMidJanuary)), ElementsAre("retry_task"));
  EXPECT_EQ(kHash.all_tables(kMidJanuary).size(), 16U);
  EXPECT_EQ(kDays.all_tables(kMidJanuary).size(), 31U);
  EXPECT_THAT(names(kMonths, kMonths.all_tables(kMidJanuary)),
              ElementsAre("retry_task_202412_0", "retry_task_202412_1", "retry_task_202501_0", "retry_task_202501_1"));
}

TEST(TablesThatExist, ThoseThatBeginSoonAreMadeAhead) {
  const TimePoint february = on(2025, 2, 1);
  EXPECT_THAT(kMonths.tables_ahead(february - days{7} - 1ms, days{7}), IsEmpty());
  EXPECT_THAT(names(kMonths, kMonths.tables_ahead(february - days{7}, days{7})),
              ElementsAre("retry_task_202502_0", "retry_task_202502_1"));
  EXPECT_THAT(names(kDays, kDays.tables_ahead(on(2024, 12, 30), days{3})),
              ElementsAre("retry_task_20241231_0", "retry_task_20250101_0", "retry_task_20250102_0"));
  EXPECT_THAT(kMonths.tables_ahead(february - 1ms, Millis{-1}), IsEmpty());
  EXPECT_THAT(kSingle.tables_ahead(kMidJanuary, days{365}), IsEmpty());
  EXPECT_THAT(kHash.tables_ahead(kMidJanuary, days{365}), IsEmpty());
}

TEST(TablesThatLeave, EndedBeforeTheWindow) {
  const std::vector<std::string> existing{"retry_task_202501_1", "retry_task_202502_0", "retry_task_202412_0",
                                          "retry_task_202503_0", "retry_task_202501_0"};
  EXPECT_THAT(names(kMonths, kMonths.leaving(existing, on(2025, 3, 3) - 1ms)), ElementsAre("retry_task_202412_0"));
  EXPECT_THAT(names(kMonths, kMonths.leaving(existing, on(2025, 3, 3))),
              ElementsAre("retry_task_202412_0", "retry_task_202501_0", "retry_task_202501_1"));
}

TEST(TablesThatLeave, AreNeverSomeoneElses) {
  const std::vector<std::string> existing{
      "retry_task",          "retry_task_log",        "retry_task_backup",         "retry_task_0",
      "retry_task_200001",   "retry_task_200001_2",   "retry_task_200001_0_old",   "retry_task_200001_00",
      "retry_task_20000101", "retry_task_20000101_0", "retry_task_history_200001", "retry_task_history_200001_0",
      "orders_200001_0",     "retry_task_2000w01_0",  "retry_task_200001a_0",      "my_retry_task_200001_0",
      "retry_task_200013_0", "RETRY_TASK_200001_0",   "retry_task_200001__0",      "retry_task_200001_"};
  for (const std::string& name : existing) EXPECT_FALSE(kMonths.parse(name)) << name;
  EXPECT_THAT(kMonths.leaving(existing, kMidJanuary), IsEmpty());
}

TEST(TablesThatLeave, AreNoneWhereTablesStay) {
  const std::vector<std::string> existing{"retry_task", "retry_task_0", "retry_task_202001_0"};
  EXPECT_THAT(kSingle.leaving(existing, kMidJanuary), IsEmpty());
  EXPECT_THAT(kHash.leaving(existing, kMidJanuary), IsEmpty());
}

TEST(TableNames, AreReadOnlyByTheirOwnLayout) {
  EXPECT_EQ(kSingle.parse("retry_task"), (TableId{0, 0}));
  EXPECT_FALSE(kSingle.parse("retry_task_0"));
  EXPECT_EQ(kHash.parse("retry_task_15"), (TableId{0, 15}));
  for (const auto* other :
       {"retry_task", "retry_task_", "retry_task_16", "retry_task_01", "retry_task_1x", "retry_task_-1",
        "retry_task_+1", "retry_task_65536", "retry_task_202501", "retry_task_202501_1"}) {
    EXPECT_FALSE(kHash.parse(other)) << other;
  }
  EXPECT_EQ(kMonths.parse("retry_task_202501_1"), kMonths.table_of(kMidJanuary, shard(33)));
}

TEST(MovedRows, AreLookedForOnlyWhenTheirTableMayHaveLeft) {
  const TaskId id = id_of(kMidJanuary, 33);
  EXPECT_THAT(kSingle.moved_to(id, on(2030, 1, 1)), IsEmpty());
  EXPECT_THAT(kHash.moved_to(id, on(2030, 1, 1)), IsEmpty());
  EXPECT_THAT(kMonths.moved_to(id, kMidJanuary), IsEmpty());
  EXPECT_THAT(kMonths.moved_to(id, on(2025, 3, 3) - 1h - 1ms), IsEmpty());
}

TEST(MovedRows, AreInOneOfTheTablesSinceTheirOwnLeft) {
  const TaskId id = id_of(kMidJanuary, 33);  // its table leaves on the 3rd of March
  EXPECT_THAT(names(kMonths, kMonths.moved_to(id, on(2025, 3, 3))), ElementsAre("retry_task_202503_1"));
  EXPECT_THAT(names(kMonths, kMonths.moved_to(id, on(2025, 4, 15))),
              ElementsAre("retry_task_202503_1", "retry_task_202504_1"));
  EXPECT_THAT(names(kMonths, kMonths.moved_to(id, on(2026, 7, 15))),
              ElementsAre("retry_task_202606_1", "retry_task_202607_1"));
}

TEST(MovedRows, AreFoundByAReaderWhoseClockIsAnHourBehind) {
  const TaskId id = id_of(kMidJanuary, 33);
  const TimePoint moved_at = on(2025, 3, 3);
  EXPECT_THAT(kMonths.moved_to(id, moved_at - 1h), ElementsAre(kMonths.table_of(moved_at, shard(33))));
  const TimePoint moved_late = on(2025, 4, 1);
  EXPECT_THAT(names(kMonths, kMonths.moved_to(id, moved_late - 1h)),
              ElementsAre("retry_task_202503_1", "retry_task_202504_1"));
}

// March's table leaves on the 1st of May: until then rows may be in it, an hour earlier they may also be in May's.
TEST(MovedRows, AreLookedForInATableUntilItHasLeft) {
  const TaskId id = id_of(kMidJanuary, 33);
  EXPECT_THAT(names(kMonths, kMonths.moved_to(id, on(2025, 5, 1) - 1ms)),
              ElementsAre("retry_task_202503_1", "retry_task_202504_1", "retry_task_202505_1"));
  EXPECT_THAT(names(kMonths, kMonths.moved_to(id, on(2025, 5, 1))),
              ElementsAre("retry_task_202504_1", "retry_task_202505_1"));
}

TEST(ClockJumps, RowsWrittenByAClockAheadAreInEarlyTables) {
  const TimePoint ahead = on(2025, 6, 10);
  const TableId written = kMonths.table_of(id_of(ahead, 33));
  const std::vector<std::string> existing{"retry_task_202502_1", kMonths.name(written), "retry_task_202501_1",
                                          "retry_task_202412_1"};
  EXPECT_THAT(names(kMonths, kMonths.early(existing, kMidJanuary)),
              ElementsAre("retry_task_202502_1", "retry_task_202506_1"));
  EXPECT_THAT(kMonths.leaving(existing, kMidJanuary), IsEmpty());
  EXPECT_THAT(kMonths.moved_to(id_of(ahead, 33), kMidJanuary), IsEmpty());
  EXPECT_THAT(kMonths.early(existing, ahead), IsEmpty());
}

TEST(ClockJumps, RowsMovedByAClockAheadAreFoundWhenTheClockIsThereAgain) {
  const TaskId id = id_of(kMidJanuary, 33);
  const TableId moved = kMonths.table_of(on(2025, 6, 10), shard(33));
  EXPECT_THAT(kMonths.moved_to(id, on(2025, 5, 15)), Not(Contains(moved)));
  EXPECT_THAT(kMonths.moved_to(id, on(2025, 6, 1)), Contains(moved));
}

TEST(ClockJumps, NoClockIsTooWrong) {
  for (const auto& router : {kSingle, kHash, kMonths, kDays}) {
    for (const TimePoint now : {TimePoint::min(), TimePoint{}, TimePoint::max()}) {
      EXPECT_FALSE(router.all_tables(now).empty());
      EXPECT_EQ(router.parse(router.name(router.table_of(now, shard(1)))), router.table_of(now, shard(1)));
      router.tables_ahead(now, Millis::max());
      router.moved_to(id_of(now, 1), now);
    }
  }
}

TEST(Routers, AreRefusedAWrongLayoutOrWindow) {
  const auto refused = [](const Layout& layout, Millis window) -> std::string {
    try {
      TableRouter{layout, kShards, window};
      return {};
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  EXPECT_THAT(refused(Layout::hash(12), days{30}), HasSubstr("use 8 or 16"));
  EXPECT_EQ(refused(Layout::single(), days{1} - 1ms), "a window of 86399999ms; it must be 1d to 3650d");
  EXPECT_NE(refused(Layout::single(), days{3650} + 1ms), "");
  EXPECT_NE(refused(Layout::single(), Millis::min()), "");
  EXPECT_EQ(refused(Layout::single(), days{1}), "");
}

}  // namespace
}  // namespace easyretry::storage
