#include "engine/wheel.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/engine/wheel_tasks.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<int> ids(const std::vector<DueTask>& tasks) {
  std::vector<int> ids;
  ids.reserve(tasks.size());
  for (const DueTask& each : tasks) ids.push_back(static_cast<int>(each.id));
  return ids;
}

std::vector<int> take_ids(Wheel& wheel, TimePoint now) {
  return ids(take(wheel, now));
}

TEST(Wheel, ReturnsTheScheduledTasks) {
  Wheel wheel{kStart, 5s};
  ASSERT_TRUE(wheel.schedule({{TaskId{7}, 2'147'483'647}, kStart + 3s, 65'535, 255, TaskClass::background, true}));

  const auto out = take(wheel, kStart + 4s);

  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].id, TaskId{7});
  EXPECT_EQ(out[0].version, 2'147'483'647);
  EXPECT_EQ(out[0].handler, 65'535U);
  EXPECT_EQ(out[0].suspicion, 255);
  EXPECT_EQ(out[0].task_class, TaskClass::background);
  EXPECT_TRUE(out[0].retried);
  EXPECT_EQ(out[0].due, kStart + 3s);
  EXPECT_EQ(wheel.size(), 0u);
}

// Only a manual edit of the store can raise a version that far, but such a task must not be lost.
TEST(Wheel, GivesBackAVersionOfMoreThan31BitsInTime) {
  constexpr std::int64_t kLarge = (std::int64_t{1} << 31) + 1;
  Wheel wheel{kStart, 5s};
  ASSERT_TRUE(wheel.schedule(task(1, kStart + 1s)));
  ASSERT_TRUE(wheel.schedule({{TaskId{2}, kLarge}, kStart + 2s, 3, 1}));
  ASSERT_TRUE(wheel.schedule(task(3, kStart + 3s)));
  EXPECT_FALSE(wheel.schedule({{TaskId{4}, kLarge}, kStart + 6s}));

  EXPECT_THAT(take_ids(wheel, kStart + 1s), ElementsAre(1));
  EXPECT_EQ(wheel.next_due(), kStart + 2s);
  const auto out = take(wheel, kStart + 3s);

  ASSERT_THAT(ids(out), ElementsAre(2, 3));
  EXPECT_EQ(out[0].version, kLarge);
  EXPECT_EQ(out[0].handler, 3U);
}

TEST(Wheel, ShowsRemovedTasksAsTheyWereScheduled) {
  Wheel wheel{kStart, 5s};
  std::vector<DueTask> scheduled;
  for (const Millis in : {-1'000ms, 1ms, 4'001ms, 5'000ms}) scheduled.push_back(task(7, kStart + in));
  for (const DueTask& each : scheduled) wheel.schedule(each);
  std::vector<TimePoint> seen;
  wheel.remove_if([&](const DueTask& each) {
    seen.push_back(each.due);
    return true;
  });
  EXPECT_THAT(seen, UnorderedElementsAre(scheduled[0].due, scheduled[1].due, scheduled[2].due, scheduled[3].due));
  EXPECT_EQ(wheel.size(), 0u);
}

TEST(Wheel, TakesNothingAMillisecondEarly) {
  Wheel wheel{kStart, 5s};
  wheel.schedule(task(1, kStart + 100ms));

  EXPECT_THAT(take_ids(wheel, kStart + 99ms), IsEmpty());
  EXPECT_THAT(take_ids(wheel, kStart + 100ms), ElementsAre(1));
}

TEST(Wheel, TakesTheEarliestFirst) {
  Wheel wheel{kStart, 5s};
  wheel.schedule(task(3, kStart + 4s));
  wheel.schedule(task(1, kStart + 1ms));
  wheel.schedule(task(2, kStart + 2ms));
  wheel.schedule(task(0, kStart));

  EXPECT_THAT(take_ids(wheel, kStart + 5s), ElementsAre(0, 1, 2, 3));
}

TEST(Wheel, AppendsToTheCallersList) {
  Wheel wheel{kStart, 5s};
  wheel.schedule(task(1, kStart));
  std::vector<DueTask> out{task(9, kStart + 1h)};

  wheel.take_due(kStart, out);

  EXPECT_THAT(ids(out), ElementsAre(9, 1));
}

TEST(Wheel, KeepsEveryTaskOfACrowdedMillisecond) {
  Wheel wheel{kStart, 5s};
  for (int i = 0; i < 1'000; ++i) wheel.schedule(task(i, kStart + 1s));

  auto taken = take_ids(wheel, kStart + 1s);

  std::ranges::sort(taken);
  ASSERT_EQ(taken.size(), 1'000u);
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(taken[static_cast<std::size_t>(i)], i);
}

TEST(Wheel, TakesTasksDueInTheMillisecondThatWasJustTaken) {
  Wheel wheel{kStart, 5s};
  take(wheel, kStart + 10ms);
  wheel.schedule(task(1, kStart + 10ms));

  EXPECT_THAT(take_ids(wheel, kStart + 10ms), ElementsAre(1));
}

TEST(Wheel, TakesOverdueTasksNextWithTheirOwnDueTimes) {
  Wheel wheel{kStart, 5s};
  wheel.schedule(task(3, kStart));
  wheel.schedule(task(2, kStart - 1ms));
  wheel.schedule(task(1, kStart - 24h));

  EXPECT_EQ(wheel.next_due(), kStart - 24h);
  const auto out = take(wheel, kStart);

  EXPECT_THAT(ids(out), ElementsAre(1, 2, 3));
  EXPECT_EQ(out[0].due, kStart - 24h);
}

TEST(Wheel, RefusesTasksBeyondItsReach) {
  Wheel wheel{kStart, 5s};

  EXPECT_TRUE(wheel.schedule(task(1, kStart + 5s)));
  EXPECT_FALSE(wheel.schedule(task(2, kStart + 5s + 1ms)));
  EXPECT_FALSE(wheel.schedule(task(3, TimePoint::max())));
  EXPECT_EQ(wheel.size(), 1u);
}

TEST(Wheel, ReachesFromTheLastTakeDue) {
  Wheel wheel{kStart, 5s};
  take(wheel, kStart + 1s);

  EXPECT_TRUE(wheel.schedule(task(1, kStart + 6s)));
  EXPECT_FALSE(wheel.schedule(task(2, kStart + 6s + 1ms)));
}

TEST(Wheel, RefusesAReachThatIsNoWindow) {
  EXPECT_THROW(Wheel(kStart, 0ms), std::invalid_argument);
  EXPECT_THROW(Wheel(kStart, -1s), std::invalid_argument);
  EXPECT_THROW(Wheel(kStart, 1h + 1ms), std::invalid_argument);
}

TEST(Wheel, GoesRoundForever) {
  Wheel wheel{kStart, 100ms};  // 256 slots
  for (int i = 0; i < 10'000; ++i) {
    const TimePoint now = kStart + Millis{i};
    const std::vector<int> due = i < 100 ? std::vector<int>{} : std::vector<int>{i - 100};
    ASSERT_EQ(take_ids(wheel, now), due);
    ASSERT_TRUE(wheel.schedule(task(i, now + 100ms)));
    ASSERT_EQ(wheel.next_due(), kStart + Millis{std::max(100, i + 1)});
  }
  EXPECT_EQ(wheel.size(), 100u);
}

TEST(Wheel, KnowsWhenTheNextTaskIsDue) {
  Wheel wheel{kStart, 60s};
  EXPECT_EQ(wheel.next_due(), TimePoint::max());
  wheel.schedule(task(1, kStart + 59s));
  EXPECT_EQ(wheel.next_due(), kStart + 59s);
  wheel.schedule(task(2, kStart + 7ms));
  EXPECT_EQ(wheel.next_due(), kStart + 7ms);
  take(wheel, kStart + 7ms);
  EXPECT_EQ(wheel.next_due(), kStart + 59s);
  take(wheel, kStart + 59s);
  EXPECT_EQ(wheel.next_due(), TimePoint::max());
}

TEST(Wheel, LosesNothingWhenTheClockJumpsForward) {
  Wheel wheel{kStart, 5s};
  for (int i = 0; i < 5'000; ++i) wheel.schedule(task(i, kStart + Millis{i}));

  EXPECT_EQ(take_ids(wheel, kStart + 24h).size(), 5'000u);
  wheel.schedule(task(1, kStart + 24h + 5s));
  EXPECT_THAT(take_ids(wheel, kStart + 24h + 5s - 1ms), IsEmpty());
  EXPECT_THAT(take_ids(wheel, kStart + 24h + 5s), ElementsAre(1));
}

TEST(Wheel, EmptiesAtTheEndOfTime) {
  Wheel wheel{kStart, 5s};
  wheel.schedule(task(1, kStart + 5s));

  EXPECT_THAT(take_ids(wheel, TimePoint::max()), ElementsAre(1));
  wheel.schedule(task(2, kStart));
  EXPECT_THAT(take_ids(wheel, kStart), ElementsAre(2));
}

class WheelWhoseClockWentBack : public ::testing::TestWithParam<Millis> {
 protected:
  TimePoint before = kStart + 24h;
  TimePoint after = before - GetParam();
  Wheel wheel{before, 5s};
};

TEST_P(WheelWhoseClockWentBack, KeepsItsTasksUntilTheyAreDue) {
  for (int i = 0; i <= 5'000; ++i) wheel.schedule(task(i, before + Millis{i}));

  EXPECT_THAT(take_ids(wheel, after), IsEmpty());
  EXPECT_EQ(wheel.next_due(), before);
  EXPECT_THAT(take_ids(wheel, before - 1ms), IsEmpty());
  for (int i = 0; i <= 5'000; ++i) ASSERT_THAT(take_ids(wheel, before + Millis{i}), ElementsAre(i));
}

TEST_P(WheelWhoseClockWentBack, TakesNewTasksNeitherEarlyNorLate) {
  wheel.schedule(task(1, before + 5s));
  take(wheel, after);

  EXPECT_TRUE(wheel.schedule(task(2, after + 1ms)));
  EXPECT_TRUE(wheel.schedule(task(3, after + 5s)));
  EXPECT_FALSE(wheel.schedule(task(4, after + 5s + 1ms)));
  EXPECT_THAT(take_ids(wheel, after), IsEmpty());
  EXPECT_THAT(take_ids(wheel, after + 1ms), ElementsAre(2));
  EXPECT_THAT(take_ids(wheel, after + 5s), ElementsAre(3));
  EXPECT_THAT(take_ids(wheel, before + 5s), ElementsAre(1));
}

TEST_P(WheelWhoseClockWentBack, MixesOldAndNewTasksEarliestFirst) {
  wheel.schedule(task(2, before + 2s));
  wheel.schedule(task(4, before + 4s));
  take(wheel, after);
  take(wheel, before);
  wheel.schedule(task(1, before + 1s));
  wheel.schedule(task(3, before + 3s));

  EXPECT_THAT(take_ids(wheel, before + 5s), ElementsAre(1, 2, 3, 4));
}

// Within a bucket, over its edge, within the spare slots, by about a turn (8,192 ms), by many.
INSTANTIATE_TEST_SUITE_P(By, WheelWhoseClockWentBack,
                         ::testing::Values(1ms, 16ms, 17ms, 64ms, 3s, 4s, 8'191ms, 8'192ms, 8'193ms, 24h),
                         [](const auto& back) { return std::to_string(back.param.count()) + "ms"; });

TEST(Wheel, RemovesEntriesWhereverTheyWait) {
  Wheel wheel{kStart, 5s};
  for (int i = 0; i < 200; ++i) {
    wheel.schedule(task(i, kStart - 1s));                  // overdue
    wheel.schedule(task(i, kStart + 1ms));                 // in an open slot
    wheel.schedule(task(i, kStart + 4s + Millis{i % 2}));  // in a bucket
  }

  wheel.remove_if([](const DueTask& each) { return each.handler % 2 == 0 || each.handler > 1; });

  EXPECT_EQ(wheel.size(), 3u);
  EXPECT_EQ(wheel.next_due(), kStart - 1s);
  EXPECT_THAT(take_ids(wheel, kStart), ElementsAre(1));
  EXPECT_THAT(take_ids(wheel, kStart + 1ms), ElementsAre(1));
  EXPECT_EQ(wheel.next_due(), kStart + 4s + 1ms);
  EXPECT_THAT(take_ids(wheel, kStart + 5s), ElementsAre(1));
}

TEST(Wheel, FillsAgainAfterRemoval) {
  Wheel wheel{kStart, 5s};
  for (int i = 0; i < 100; ++i) wheel.schedule(task(i, kStart + 1s));
  wheel.remove_if([](const DueTask& each) { return each.handler >= 2; });
  wheel.schedule(task(2, kStart + 1s));

  EXPECT_THAT(take_ids(wheel, kStart + 1s), UnorderedElementsAre(0, 1, 2));
}

TEST(Wheel, HoldsAMillionTasksInFortyBytesEach) {
  Wheel wheel{kStart, 60s};
  for (int i = 0; i < 1'000'000; ++i) wheel.schedule(task(i, kStart + Millis{i % 60'000}));

  EXPECT_LE(wheel.memory_bytes(), 40'000'000u);
}

TEST(Wheel, GivesItsMemoryBackOnceItIsFoundEmpty) {
  Wheel wheel{kStart, 5s};
  const auto unused = wheel.memory_bytes();
  for (int i = 0; i < 100'000; ++i) wheel.schedule(task(i, kStart + Millis{i % 5'000}));
  for (int i = 0; i < 10'000; ++i) wheel.schedule(task(i, kStart - 1ms));
  ASSERT_GT(wheel.memory_bytes(), 1'500'000u);

  take(wheel, kStart + 5s);
  take(wheel, kStart + 5s);

  EXPECT_LE(wheel.memory_bytes(), unused + 70'000);
  wheel.schedule(task(1, kStart + 6s));
  EXPECT_THAT(take_ids(wheel, kStart + 6s), ElementsAre(1));
}

TEST(Wheel, DoesNotGrowUnderASteadyLoad) {
  Wheel wheel{kStart, 1s};
  std::size_t after_one_turn = 0;
  for (int i = 0; i < 20'000; ++i) {
    for (int k = 0; k < 10; ++k) wheel.schedule(task(k, kStart + Millis{i + 100 * k}));
    take(wheel, kStart + Millis{i});
    if (i == 2'000) after_one_turn = wheel.memory_bytes();
  }
  EXPECT_EQ(wheel.memory_bytes(), after_one_turn);
}

}  // namespace
}  // namespace easyretry::engine
