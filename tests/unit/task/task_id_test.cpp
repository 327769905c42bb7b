#include "task/task_id.h"

#include <chrono>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace easyretry::task {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kEpoch{std::chrono::sys_days{std::chrono::year{2020} / 1 / 1}};
constexpr TimePoint kMarch{std::chrono::sys_days{std::chrono::year{2026} / 3 / 10}};

std::int64_t number(TaskId id) {
  return static_cast<std::int64_t>(id);
}

TEST(TaskIds, HoldTimeThenShardThenSequence) {
  EXPECT_EQ(number(make_task_id(kEpoch, ShardId{0}, 0)), 0);
  EXPECT_EQ(number(make_task_id(kEpoch, ShardId{0}, 1)), 1);
  EXPECT_EQ(number(make_task_id(kEpoch, ShardId{1}, 0)), 1 << 10);
  EXPECT_EQ(number(make_task_id(kEpoch + 1ms, ShardId{0}, 0)), 1 << 22);
  // 2,260 days since 2020. Computed independently of the code: rows written by one release must be found by the next.
  EXPECT_EQ(number(make_task_id(kMarch, ShardId{63}, 7)), (195'264'000'000LL << 22) + (63 << 10) + 7);
}

TEST(TaskIds, ReachTheEndOf2089) {
  const TimePoint last{std::chrono::sys_days{std::chrono::year{2089} / 9 / 1}};
  EXPECT_EQ(created_at(make_task_id(last, ShardId{4095}, 1023)), last);
  EXPECT_GT(number(make_task_id(last, ShardId{4095}, 1023)), 0);
}

TEST(TaskIds, LeadToAShardAfterAnyChangeOfTheirNumber) {
  const TaskId id = make_task_id(kMarch, ShardId{50}, 7);
  EXPECT_EQ(shard_of(id, 64), ShardId{50});
  EXPECT_EQ(shard_of(id, 4096), ShardId{50});
  EXPECT_EQ(shard_of(id, 50), ShardId{0});
  EXPECT_EQ(shard_of(id, 16), ShardId{2});
  EXPECT_EQ(shard_of(id, 1), ShardId{0});
}

TEST(TaskIds, StayPositiveWithAWrongClock) {
  EXPECT_EQ(created_at(make_task_id(TimePoint{}, ShardId{5}, 0)), kEpoch);
  EXPECT_GT(number(make_task_id(TimePoint::max(), ShardId{4095}, 1023)), 0);
  EXPECT_EQ(shard_of(make_task_id(TimePoint::max(), ShardId{5}, 1023)), ShardId{5});
}

RC_GTEST_PROP(TaskIds, GiveBackTheirParts, ()) {
  const auto ms = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 41);
  const auto shard = *rc::gen::inRange<int>(0, kMaxShards);
  const auto sequence = *rc::gen::arbitrary<unsigned>();
  const TaskId id = make_task_id(kEpoch + Millis{ms}, ShardId{static_cast<std::uint16_t>(shard)}, sequence);
  RC_ASSERT(created_at(id) == kEpoch + Millis{ms});
  RC_ASSERT(static_cast<int>(shard_of(id)) == shard);
  RC_ASSERT(number(id) >= 0);
}

TEST(TaskIds, OfTasksStoredInATimeAreARange) {
  const IdBounds bounds = ids_stored_in({kMarch, kMarch + 1s});
  for (const Millis ahead : {Millis{0}, Millis{1}, Millis{5min}}) {
    for (const std::uint16_t shard : {0, 7, 4095}) {
      EXPECT_GE(make_task_id(kMarch + ahead, ShardId{shard}, 0), *bounds.from);
      EXPECT_LT(make_task_id(kMarch + 999ms + ahead, ShardId{shard}, 1023), *bounds.until);
    }
  }
  EXPECT_LT(make_task_id(kMarch - 1ms, ShardId{4095}, 1023), *bounds.from);
  EXPECT_GE(make_task_id(kMarch + 1s + kMostAhead, ShardId{}, 0), *bounds.until);
  EXPECT_EQ(ids_stored_in({}).from, std::nullopt);
  EXPECT_EQ(ids_stored_in({}).until, std::nullopt);
}

// All tasks of such a clock have ids of the first or the last millisecond that an id can have.
TEST(TaskIds, OfAClockOutsideOfTheirYearsAreInTheRange) {
  const TimePoint before{std::chrono::sys_days{std::chrono::year{1999} / 1 / 1}};
  const TimePoint after{std::chrono::sys_days{std::chrono::year{2100} / 1 / 1}};
  for (const TimePoint then : {before, after}) {
    const IdBounds bounds = ids_stored_in({then, then + 1s});
    const TaskId id = make_task_id(then, ShardId{4095}, 1023);
    EXPECT_GE(id, *bounds.from);
    EXPECT_TRUE(!bounds.until || id < *bounds.until);
  }
}

TEST(TaskIdSource, DrawsDistinctIdsForAnyNumberInOneMillisecond) {
  TaskIdSource source{1000};
  std::set<TaskId> ids;
  for (int i = 0; i < 5000; ++i) ids.insert(source.next(kMarch, ShardId{3}));
  EXPECT_EQ(ids.size(), 5000U);
}

TEST(TaskIdSource, BorrowsFromTheNextMillisecondAfter1024) {
  TaskIdSource source{0};
  for (int i = 0; i < 1024; ++i) EXPECT_EQ(created_at(source.next(kMarch, ShardId{3})), kMarch);
  EXPECT_EQ(created_at(source.next(kMarch, ShardId{3})), kMarch + 1ms);
}

TEST(TaskIdSource, DrawsGrowingIdsInOneShardWhereverItsSequenceBegins) {
  TaskIdSource source{1000};
  TaskId last{};
  for (int i = 0; i < 5000; ++i) {
    const TaskId id = source.next(kMarch + Millis{i / 1000}, ShardId{3});
    EXPECT_GT(id, last);
    last = id;
  }
  EXPECT_LE(created_at(last), kMarch + 5ms) << "borrows no more than it needs";
}

TEST(TaskIdSource, ContinuesAfterBorrowedIds) {
  TaskIdSource source{1};
  std::set<TaskId> ids;
  for (int i = 0; i < 3000; ++i) ids.insert(source.next(kMarch, ShardId{3}));
  for (int ms = 1; ms < 4; ++ms) {
    for (int i = 0; i < 500; ++i) ids.insert(source.next(kMarch + Millis{ms}, ShardId{3}));
  }
  EXPECT_EQ(ids.size(), 4500U);
}

TEST(TaskIdSource, GivesNothingTwiceWhenTheClockGoesBack) {
  TaskIdSource source{1};
  std::set<TaskId> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(source.next(kMarch, ShardId{3}));
  for (int i = 0; i < 1000; ++i) ids.insert(source.next(kMarch - 1h, ShardId{3}));
  for (int i = 0; i < 1000; ++i) ids.insert(source.next(kMarch, ShardId{3}));
  EXPECT_EQ(ids.size(), 3000U);
}

TEST(TaskIdSource, PutsLaterMillisecondsAfterEarlierOnes) {
  TaskIdSource source{1023};
  TaskId last{};
  for (int ms = 0; ms < 100; ++ms) {
    const TaskId id = source.next(kMarch + Millis{ms}, ShardId{static_cast<std::uint16_t>((100 - ms) % 64)});
    EXPECT_GT(id, last);
    last = id;
  }
}

TEST(TaskIdSource, StartsWhereItsSeedSays) {
  EXPECT_EQ(TaskIdSource{42}.next(kMarch, ShardId{1}), make_task_id(kMarch, ShardId{1}, 42));
  EXPECT_NE(TaskIdSource{42}.next(kMarch, ShardId{1}), TaskIdSource{43}.next(kMarch, ShardId{1}));
}

// If they repeated, a store that draws again until it finds a free one would never end.
TEST(TaskIdSource, DrawsDistinctIdsWithAClockBefore2020) {
  TaskIdSource source{1};
  std::set<TaskId> ids;
  for (int i = 0; i < 3000; ++i) ids.insert(source.next(TimePoint{}, ShardId{3}));
  EXPECT_EQ(ids.size(), 3000U);
}

}  // namespace
}  // namespace easyretry::task
