#include "engine/ready.h"

#include <map>

#include <gtest/gtest.h>

#include "unit/engine/due_tasks.h"

namespace easyretry::engine {
namespace {

TEST(Ready, TakesATaskOnlyOnce) {
  Ready ready{10};
  EXPECT_TRUE(ready.add(due(1)));
  EXPECT_FALSE(ready.add(due(1)));
  EXPECT_EQ(ready.size(), 1U);
}

TEST(Ready, GivesEachKindNoMoreThanItsRoom) {
  Ready ready{10};
  for (int i = 0; i < 5; ++i) ready.add(due(i, 0));
  for (int i = 5; i < 10; ++i) ready.add(due(i, 1));
  std::vector<DueTask> picked;
  ready.pick([](const Line& line, std::size_t, std::size_t) { return line.handler == 0 ? 1U : 3U; }, 100, picked);
  EXPECT_EQ(ids_in(picked), (std::vector{0, 5, 6, 7}));
  EXPECT_EQ(ready.size(), 6U);
}

TEST(Ready, NoKindIsAlwaysFirst) {
  Ready ready{10};
  for (int i = 0; i < 4; ++i) ready.add(due(i, static_cast<std::uint32_t>(i % 2)));
  std::vector<DueTask> first, second;
  ready.pick(plenty, 1, first);
  ready.pick(plenty, 1, second);
  EXPECT_NE(first[0].handler, second[0].handler);
}

TEST(Ready, PutsBackToTheHead) {
  Ready ready{10};
  for (int i = 0; i < 4; ++i) ready.add(due(i));
  std::vector<DueTask> picked;
  ready.pick(plenty, 2, picked);
  ready.put_back(picked);
  picked.clear();
  ready.pick(plenty, 10, picked);
  EXPECT_EQ(ids_in(picked), (std::vector{0, 1, 2, 3}));
}

TEST(Ready, DoesNotTakeATaskThatIsBeingClaimed) {
  Ready ready{10};
  ready.add(due(1));
  std::vector<DueTask> picked;
  ready.pick(plenty, 1, picked);
  EXPECT_EQ(ready.size(), 0U);
  EXPECT_FALSE(ready.add(due(1)));
  ready.release(picked);
  EXPECT_TRUE(ready.add(due(1)));
}

// A scan may bring what it read before the task was run, after which its retry comes.
TEST(Ready, ATaskThatComesInANewerVersionIsAskedForInThat) {
  Ready ready{10};
  EXPECT_TRUE(ready.add({{TaskId{1}, 1}}));
  EXPECT_FALSE(ready.add({{TaskId{1}, 3}}));
  EXPECT_FALSE(ready.add({{TaskId{1}, 1}}));
  std::vector<DueTask> picked;
  ready.pick(plenty, 10, picked);
  ASSERT_EQ(picked.size(), 1U);
  EXPECT_EQ(picked[0].version, 3);
  EXPECT_EQ(ready.release(picked), 0U);
  EXPECT_EQ(ready.size(), 0U);
}

TEST(Ready, ATaskThatComesInANewerVersionWhileItIsBeingClaimedIsAskedForAgain) {
  Ready ready{10};
  ready.add({{TaskId{1}, 1}});
  std::vector<DueTask> picked;
  ready.pick(plenty, 10, picked);
  EXPECT_FALSE(ready.add({{TaskId{1}, 3}}));
  EXPECT_EQ(ready.release(picked), 1U);
  EXPECT_EQ(ready.size(), 1U);
  EXPECT_EQ(ready.picked(), 0U);
  picked.clear();
  ready.pick(plenty, 10, picked);
  ASSERT_EQ(picked.size(), 1U);
  EXPECT_EQ(picked[0].version, 3);
}

TEST(Ready, KeepsAVersionOfMoreThan32Bits) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 40;
  Ready ready{10};
  ready.add({{TaskId{1}, kLarge}});
  EXPECT_FALSE(ready.add({{TaskId{1}, 7}}));
  std::vector<DueTask> picked;
  ready.pick(plenty, 10, picked);
  ASSERT_EQ(picked.size(), 1U);
  EXPECT_EQ(picked[0].version, kLarge);
  EXPECT_FALSE(ready.add({{TaskId{1}, kLarge + 1}}));
  EXPECT_EQ(ready.release(picked), 1U);
}

TEST(Ready, TellsHowManyOfAKindAreBeingClaimed) {
  Ready ready{10};
  for (int i = 0; i < 5; ++i) ready.add(due(i, 1));
  std::vector<std::size_t> told;
  const auto two = [&](const Line&, std::size_t, std::size_t coming) {
    told.push_back(coming);
    return std::size_t{2};
  };
  std::vector<DueTask> first, second, third;
  ready.pick(two, 10, first);
  ready.pick(two, 10, second);
  ready.put_back(first);
  ready.release(second);
  ready.pick(two, 10, third);
  EXPECT_EQ(told, (std::vector<std::size_t>{0, 2, 0}));
  EXPECT_EQ(ids_in(third), ids_in(first));
}

TEST(Ready, SaysWhenAKindThatOverflowedHasRoomAgain) {
  Ready ready{4};
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ready.add(due(i)));
  EXPECT_FALSE(ready.add(due(4)));
  EXPECT_FALSE(ready.take_reload_wanted());
  std::vector<DueTask> picked;
  ready.pick(plenty, 2, picked);
  EXPECT_TRUE(ready.take_reload_wanted());
  EXPECT_FALSE(ready.take_reload_wanted());
}

using enum TaskClass;

DueTask due_of(TaskClass task_class, int id, std::uint32_t handler = 0) {
  return {{TaskId{id}, 1}, {}, handler, 0, task_class};
}

// 1,000 tasks of each class.
struct ReadyClasses : ::testing::Test {
  ReadyClasses() {
    ready.limit(10'000, 10'000);
    for (int i = 0; i < 1000; ++i) {
      ready.add(due_of(background, i));
      ready.add(due_of(normal, 10'000 + i, 1));
      ready.add(due_of(urgent, 20'000 + i));
    }
  }

  // Picks `limit` at a time.
  std::map<TaskClass, int> picked(int tasks, std::size_t limit, const Ready::Room& room = plenty) {
    std::map<TaskClass, int> counts;
    for (std::vector<DueTask> batch; tasks > 0; tasks -= static_cast<int>(batch.size())) {
      batch.clear();
      ready.pick(room, limit, batch);
      if (batch.empty()) break;
      for (const DueTask& task : batch) ++counts[task.task_class];
      ready.release(batch);
    }
    return counts;
  }

  Ready ready{10'000};
};

TEST_F(ReadyClasses, AreServedSixteenToFourToOne) {
  const std::map<TaskClass, int> wanted{{urgent, 480}, {normal, 120}, {background, 30}};
  EXPECT_EQ(picked(630, 630), wanted);
}

TEST_F(ReadyClasses, AreServedInTheSameSharesOneTaskAtATime) {
  const std::map<TaskClass, int> wanted{{urgent, 480}, {normal, 120}, {background, 30}};
  EXPECT_EQ(picked(630, 1), wanted);
}

TEST_F(ReadyClasses, LeaveTheirShareToOthersWhenTheyHaveNothing) {
  ready.remove_if([](const DueTask& task) { return task.task_class == urgent; });
  const std::map<TaskClass, int> wanted{{normal, 80}, {background, 20}};
  EXPECT_EQ(picked(100, 10), wanted);
  ready.remove_if([](const DueTask& task) { return task.task_class == normal; });
  EXPECT_EQ(picked(500, 500), (std::map<TaskClass, int>{{background, 500}}));
}

// Handler 0 has the urgent and the background tasks.
TEST_F(ReadyClasses, LeaveTheirShareToOthersWhenTheirHandlerHasNoRoom) {
  const auto room = [](const Line& line, std::size_t, std::size_t) { return line.handler == 0 ? 0U : 1000U; };
  EXPECT_EQ(picked(500, 100, room), (std::map<TaskClass, int>{{normal, 500}}));
  const std::map<TaskClass, int> wanted{{urgent, 160}, {normal, 40}, {background, 10}};
  EXPECT_EQ(picked(210, 21), wanted) << "a class that was held back gets no more than its share afterwards";
}

TEST_F(ReadyClasses, HaveTheirOwnRoom) {
  ready.limit(1000, 1500);
  EXPECT_EQ(ready.room_for({0, background}), 0U);
  EXPECT_EQ(ready.room_for({0, normal}), 500U) << "a class is limited over all handlers";
  picked(21, 21);
  EXPECT_EQ(ready.room_for({0, urgent}), 16U);
  EXPECT_TRUE(ready.add(due_of(background, 30'001)));
  EXPECT_FALSE(ready.add(due_of(background, 30'002)));
}

TEST_F(ReadyClasses, ThatWereLeftOutAreAskedForWhenHalfOfTheirRoomIsFree) {
  ready.limit(1000, 1000);
  ready.leave_out({0, urgent});
  picked(21, 21);
  EXPECT_FALSE(ready.take_reload_wanted());
  picked(672, 672);
  EXPECT_TRUE(ready.take_reload_wanted()) << "fewer than half of the urgent tasks are left";
  EXPECT_FALSE(ready.take_reload_wanted());
}

TEST_F(ReadyClasses, AreWhereTheyWereAfterAClaimThatCouldNotBeMade) {
  const auto before = ready.by_class();
  std::vector<DueTask> batch;
  ready.pick(plenty, 100, batch);
  EXPECT_NE(ready.by_class(), before);
  ready.put_back(batch);
  EXPECT_EQ(ready.by_class(), before);
}

TEST(Ready, NormalTasksAloneMayFillAllOfTheMemory) {
  Ready ready{100};
  ready.limit(100, 30);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(ready.add(due(i)));
  EXPECT_FALSE(ready.add(due(100)));
  EXPECT_TRUE(ready.add(due_of(urgent, 101)));
  EXPECT_EQ(ready.room_for({1, normal}), 0U) << "from now on a class has its part of it";
}

// Of 100 tasks of each of two handlers, the first may start none.
struct HeldHandler : ::testing::Test {
  HeldHandler() {
    for (int i = 0; i < 100; ++i) ready.add(due(i, 0));
    for (int i = 100; i < 200; ++i) ready.add(due(i, 1));
    ready.allow(0, 100, 0);
    ready.allow(1, 100, 100);
  }
  std::vector<int> pick_of_first(std::size_t most) {
    std::vector<DueTask> picked;
    ready.pick([&](const Line& line, std::size_t, std::size_t) { return line.handler == 0 ? most : 0; }, most, picked);
    return ids_in(picked);
  }

  Ready ready{100};
};

TEST_F(HeldHandler, KeepsTheEarliestOfItsTasksAndLeavesOutTheRest) {
  EXPECT_EQ(ready.shrink_held(3), 97U);
  EXPECT_EQ(ready.size(0), 3U);
  EXPECT_EQ(ready.size(1), 100U) << "of the other handler, which is not held";
  EXPECT_EQ(ready.room_for({0, TaskClass::normal}), 0U);
  EXPECT_EQ(pick_of_first(10), (std::vector{0, 1, 2}));
}

TEST_F(HeldHandler, DividesThePartWithOthersThatAreHeld) {
  ready.allow(1, 100, 99);
  EXPECT_EQ(ready.shrink_held(40), 160U);
  EXPECT_EQ(ready.size(0), 20U);
  EXPECT_EQ(ready.size(1), 20U);
  EXPECT_FALSE(ready.take_reload_wanted());
}

TEST_F(HeldHandler, KeepsSomeOfEachClass) {
  for (int i = 200; i < 210; ++i) ready.add({{TaskId{i}, 1}, {}, 0, 0, TaskClass::urgent});
  ready.shrink_held(12);
  EXPECT_EQ(ready.by_class()[static_cast<std::size_t>(TaskClass::urgent)], 4U);
  EXPECT_EQ(ready.size(0), 8U);
}

TEST_F(HeldHandler, KeepsSomeOfItsSuspects) {
  for (int i = 200; i < 210; ++i) ready.add({{TaskId{i}, 1}, {}, 2, 1});
  ready.allow(0, 100, 100);
  ready.allow(2, 1, 0);
  EXPECT_EQ(ready.shrink_held(4), 6U);
  EXPECT_EQ(ready.size(2), 4U);
  EXPECT_TRUE(ready.has_suspects());
}

TEST_F(HeldHandler, WhatWasLeftOutIsAskedForWhenHalfOfItsPartIsFree) {
  ready.shrink_held(10);
  EXPECT_FALSE(ready.take_reload_wanted());
  pick_of_first(5);
  EXPECT_TRUE(ready.take_reload_wanted());
}

TEST_F(HeldHandler, IsHeldUntilItHasStartedAsManyAsItKeeps) {
  ready.shrink_held(10);
  ready.allow(0, 5, 5);
  ready.allow(0, 5, 4);
  ready.allow(0, 9, 9);
  EXPECT_TRUE(ready.is_held({0})) << "fewer since it was last held back";
  ready.allow(0, 1, 1);
  EXPECT_FALSE(ready.is_held({0}));
  EXPECT_EQ(ready.room_for({0, TaskClass::normal}), 90U);
  EXPECT_TRUE(ready.take_reload_wanted());
}

TEST_F(HeldHandler, TakesNoPartAnyMoreWhenNothingOfItIsLeft) {
  ready.remove_if([](const DueTask& task) { return task.handler == 0; });
  ready.allow(1, 100, 0);
  EXPECT_EQ(ready.shrink_held(40), 60U);
  EXPECT_EQ(ready.size(1), 40U);
}

}  // namespace
}  // namespace easyretry::engine
