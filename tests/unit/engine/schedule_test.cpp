// Which tasks the Schedule gives to the Claimers, and when.

#include "engine/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

EngineOptions small_memory() {
  EngineOptions options;
  options.read_ahead = 8;
  return options;
}

class ScheduleTest : public ::testing::Test {
 protected:
  ScheduleTest() {
    instance.handle("pay", [] {});
    know_pauses();
  }
  // Nothing is given out before the store has said which handlers are paused.
  void know_pauses() {
    instance.core.pause_watch().look_now();
    instance.core.pause_watch().step();
  }
  DueTask task(int id, Millis in = 0ms, std::uint8_t suspicion = 0) {
    return {{TaskId{id}, 1}, instance.core.store_now() + in, 0, suspicion};
  }
  void offer(const std::vector<DueTask>& tasks) { schedule.offer(tasks); }
  std::vector<DueTask> take(std::size_t claimer = 0) {
    std::vector<DueTask> batch;
    schedule.take(claimer, batch);
    return batch;
  }
  static std::vector<int> ids(const std::vector<DueTask>& tasks) {
    std::vector<int> all;
    for (const DueTask& each : tasks) all.push_back(static_cast<int>(each.id));
    return all;
  }

  SharedStore shared;
  VirtualInstance instance{shared, small_memory()};
  Schedule& schedule = instance.core.schedule();
};

TEST_F(ScheduleTest, ATaskIsGivenOutAtItsTimeAndNotBefore) {
  offer({task(1, 100ms)});
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_EQ(schedule.in_wheel(), 1U);
  shared.clock.advance(99ms);
  EXPECT_THAT(take(), IsEmpty());
  shared.clock.advance(1ms);
  EXPECT_THAT(ids(take()), ElementsAre(1));
}

TEST_F(ScheduleTest, EachTaskGoesToOneClaimer) {
  offer({task(1), task(2)});
  EXPECT_THAT(ids(take(0)), UnorderedElementsAre(1, 2));
  offer({task(1)});
  EXPECT_THAT(take(1), IsEmpty()) << "it is being claimed";
}

TEST_F(ScheduleTest, ATaskWhoseClaimCouldNotBeSentIsGivenOutAgain) {
  offer({task(1)});
  const auto batch = take();
  schedule.put_back(batch);
  EXPECT_THAT(ids(take()), ElementsAre(1));
}

TEST_F(ScheduleTest, AClaimedTaskLeavesMemory) {
  offer({task(1)});
  EXPECT_EQ(schedule.held(), 1U);
  schedule.claimed(take());
  EXPECT_EQ(schedule.held(), 0U);
}

TEST_F(ScheduleTest, TasksBeyondTheBudgetAreNotTakenAndReadAgainWhenHalfOfItIsFree) {
  std::vector<DueTask> many;
  for (int i = 1; i <= 10; ++i) many.push_back(task(i));
  offer(many);
  EXPECT_EQ(schedule.held(), 8U);
  EXPECT_EQ(schedule.room(), 0U);
  EXPECT_FALSE(schedule.take_reload_wanted());
  schedule.claimed(take());
  EXPECT_EQ(schedule.room(), 8U);
  EXPECT_TRUE(schedule.take_reload_wanted());
  EXPECT_FALSE(schedule.take_reload_wanted());
}

TEST_F(ScheduleTest, ATaskBeyondTheWindowIsLeftToALaterScan) {
  offer({task(1, instance.core.options().window + 2s)});
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_EQ(schedule.held(), 0U);
}

TEST_F(ScheduleTest, ATaskOfAPausedHandlerIsLeftInTheStore) {
  ASSERT_TRUE(instance.core.pause("pay", "down").value());
  instance.core.pause_watch().step();
  offer({task(1), task(2, 10ms)});
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_EQ(schedule.held(), 0U);
}

TEST_F(ScheduleTest, WhileTheStoreFailsNothingIsGivenOut) {
  offer({task(1)});
  schedule.pause();
  EXPECT_TRUE(schedule.paused());
  EXPECT_THAT(take(), IsEmpty());
  const Instant wake = schedule.watch(0);
  EXPECT_GT(wake, shared.clock.steady());
  shared.clock.advance(std::chrono::ceil<Millis>(wake - shared.clock.steady()));
  EXPECT_THAT(ids(take()), ElementsAre(1));
}

TEST_F(ScheduleTest, OneClaimerWatchesTheTimeForBoth) {
  offer({task(1, 100ms)});
  EXPECT_THAT(take(0), IsEmpty());
  EXPECT_THAT(take(1), IsEmpty());
  const Instant watched = schedule.watch(0);
  EXPECT_LE(watched, shared.clock.steady() + 101ms);
  EXPECT_EQ(schedule.watch(1), Instant::max());
}

TEST_F(ScheduleTest, ForgottenTasksAreNotGivenOut) {
  offer({task(1), task(2), task(3, 10ms), task(4, 10ms)});
  EXPECT_THAT(ids(take()), UnorderedElementsAre(1, 2));
  schedule.forget([](const DueTask& each) { return static_cast<int>(each.id) == 4; });
  shared.clock.advance(10ms);
  EXPECT_THAT(ids(take()), ElementsAre(3));
}

TEST_F(ScheduleTest, NothingIsGivenOutOnceItIsStopped) {
  offer({task(1)});
  schedule.stop();
  EXPECT_THAT(take(), IsEmpty());
  offer({task(2)});
  EXPECT_EQ(schedule.held(), 1U) << "nor is anything taken";
}

// Without it, a task that waits for its time would be claimed like any other, and could be blamed for others' crashes.
TEST_F(ScheduleTest, ATaskUnderSuspicionStaysSoWhileItWaitsForItsTime) {
  offer({task(1, 50ms, 2), task(2, 50ms)});
  EXPECT_THAT(take(), IsEmpty());
  shared.clock.advance(50ms);
  const auto suspects = take();
  ASSERT_THAT(ids(suspects), ElementsAre(1)) << "suspects go first, without others";
  EXPECT_EQ(suspects[0].suspicion, 2);
}

TEST_F(ScheduleTest, ATaskKeepsItsClassWhileItWaitsForItsTime) {
  std::vector<DueTask> tasks{task(1, 50ms), task(2, 50ms), task(3, 50ms)};
  tasks[0].task_class = TaskClass::background;
  tasks[2].task_class = TaskClass::urgent;
  offer(tasks);
  EXPECT_THAT(take(), IsEmpty());
  shared.clock.advance(50ms);
  const auto given = take();
  EXPECT_THAT(ids(given), ElementsAre(3, 2, 1)) << "the urgent one first";
  EXPECT_EQ(given.front().task_class, TaskClass::urgent);
}

TEST_F(ScheduleTest, AVersionOfMoreThan31BitsIsGivenOutAsItIs) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 40;
  DueTask now = task(1);
  DueTask later = task(2, 20ms);
  now.version = later.version = kLarge;
  offer({now, later});
  EXPECT_EQ(take().at(0).version, kLarge);
  shared.clock.advance(20ms);
  EXPECT_EQ(take().at(0).version, kLarge);
}

TEST(Isolation, LetsATaskRunAloneWhenOthersAreQuiet) {
  Isolation isolation;
  const Instant now{10s};
  EXPECT_FALSE(isolation.ask(now, false));
  EXPECT_TRUE(isolation.holds_others(now));
  EXPECT_TRUE(isolation.ask(now + 500ms, true));
  isolation.begin(TaskId{7}, now + 500ms);
  EXPECT_FALSE(isolation.ask(now + 600ms, true)) << "one at a time";
  EXPECT_TRUE(isolation.holds_others(now + 1400ms));
  EXPECT_FALSE(isolation.holds_others(now + 1500ms)) << "a second at most";
}

TEST(Isolation, ServesOthersForAsLongAsTheyWereHeldBack) {
  Isolation isolation;
  const Instant now{10s};
  isolation.ask(now, false);
  isolation.begin(TaskId{7}, now + 1s);
  isolation.end(now + 2s);
  EXPECT_FALSE(isolation.ask(now + 3s, true));
  EXPECT_FALSE(isolation.holds_others(now + 3s));
  EXPECT_TRUE(isolation.ask(now + 4s, true));
}

}  // namespace
}  // namespace easyretry::engine
