// Ready, with retries that wait apart because there is a budget for them.

#include <algorithm>

#include <gtest/gtest.h>

#include "unit/engine/due_tasks.h"

namespace easyretry::engine {
namespace {

// Handler 0 keeps its retries apart, and may start as many of them as the test says. Handler 1 does not.
struct ReadyRetries : ::testing::Test {
  ReadyRetries() { ready.keep_retries_apart(0, true); }

  std::vector<DueTask> pick_tasks(std::size_t limit, std::size_t retries) {
    std::vector<DueTask> picked;
    ready.pick(
        [&](const Line& line, std::size_t wanted, std::size_t) {
          if (!line.retried) return wanted;
          const std::size_t allowed = std::min(wanted, retries);
          retries -= allowed;
          ready.allow_retries(line.handler, wanted, allowed);
          return allowed;
        },
        limit, picked);
    return picked;
  }
  std::vector<int> pick(std::size_t limit, std::size_t retries) { return ids_in(pick_tasks(limit, retries)); }
  // Of handler 0, retries up to 100 and others from there on.
  void add(int retries, int others) {
    for (int i = 0; i < retries; ++i) ready.add(due_retry(i));
    for (int i = 0; i < others; ++i) ready.add(due(100 + i));
  }

  Ready ready{100};
};

TEST_F(ReadyRetries, ThatMayNotStartAreNotInFrontOfOthers) {
  add(3, 2);
  EXPECT_EQ(pick(10, 0), (std::vector{100, 101}));
  EXPECT_EQ(ready.size(0), 3U);
  EXPECT_EQ(ready.retries_apart(0), 3U);
}

TEST_F(ReadyRetries, ThatMayStartStartFirst) {
  add(3, 2);
  EXPECT_EQ(pick(3, 2), (std::vector{0, 1, 100}));
  EXPECT_EQ(pick(10, 5), (std::vector{2, 101}));
}

TEST_F(ReadyRetries, OfAHandlerThatKeepsThemWithOthersStartInTheirTurn) {
  ready.add(due(1, 1));
  ready.add(due_retry(2, 1));
  ready.add(due(3, 1));
  EXPECT_EQ(pick(10, 0), (std::vector{1, 2, 3}));
  EXPECT_EQ(ready.retries_apart(1), 0U);
}

TEST_F(ReadyRetries, AreServedByClass) {
  for (int i = 0; i < 50; ++i) {
    DueTask retry = due_retry(i);
    retry.task_class = TaskClass::urgent;
    ready.add(retry);
    ready.add(due(100 + i, 1));
  }
  const auto picked = pick_tasks(20, 50);
  EXPECT_EQ(std::ranges::count(picked, TaskClass::urgent, &DueTask::task_class), 16);
}

TEST_F(ReadyRetries, GoBackToTheirLineAfterAClaimThatCouldNotBeMade) {
  add(2, 1);
  ready.put_back(pick_tasks(10, 1));
  EXPECT_EQ(ready.retries_apart(0), 2U);
  EXPECT_EQ(pick(10, 0), (std::vector{100}));
}

TEST_F(ReadyRetries, ATaskThatFailsWhileItsClaimIsStillBeingReportedIsOne) {
  ready.add(due(1));
  const auto picked = pick_tasks(10, 0);
  DueTask again = due_retry(1);
  again.version = 3;
  EXPECT_FALSE(ready.add(again));
  EXPECT_EQ(ready.release(picked), 1U);
  EXPECT_EQ(ready.retries_apart(0), 1U);
}

TEST_F(ReadyRetries, UnderSuspicionDoNotWaitApart) {
  DueTask suspect = due_retry(1);
  suspect.suspicion = 2;
  ready.add(suspect);
  EXPECT_EQ(ready.retries_apart(0), 0U);
  EXPECT_TRUE(ready.has_suspects());
}

TEST_F(ReadyRetries, AndOthersHaveHalfOfTheQueueEach) {
  add(80, 80);
  EXPECT_EQ(ready.retries_apart(0), 50U);
  EXPECT_EQ(ready.size(0), 100U);
  EXPECT_EQ(ready.room_for({0, TaskClass::normal, true}), 0U);
  EXPECT_EQ(ready.room_for({0, TaskClass::normal, false}), 0U);
  EXPECT_EQ(ready.room_for({1, TaskClass::normal, true}), 100U);
}

TEST_F(ReadyRetries, ThatAreHeldKeepASmallPartAndLeaveOutTheLatest) {
  add(40, 20);
  pick(5, 2);
  EXPECT_TRUE(ready.is_held({0, TaskClass::normal, true}));
  EXPECT_FALSE(ready.is_held({0, TaskClass::normal, false})) << "only its retries are";
  EXPECT_EQ(ready.shrink_held(10), 28U);
  EXPECT_EQ(ready.retries_apart(0), 10U);
  EXPECT_EQ(ready.room_for({0, TaskClass::normal, true}), 0U);
  EXPECT_EQ(ready.room_for({0, TaskClass::normal, false}), 33U);
  EXPECT_EQ(pick(100, 10).front(), 2) << "the earliest";
}

TEST_F(ReadyRetries, ThatAreHeldShareTheirPartWithWhatElseIsHeld) {
  add(40, 20);
  for (int i = 0; i < 40; ++i) ready.add(due(200 + i, 1));
  pick(5, 0);
  ready.allow(1, 10, 0);
  ready.shrink_held(20);
  EXPECT_EQ(ready.retries_apart(0), 10U);
  EXPECT_EQ(ready.size(1), 10U);
  ready.allow(0, 10, 0);
  ready.shrink_held(21);
  EXPECT_EQ(ready.size(0), 14U) << "a held handler has a part for each of its lines";
  EXPECT_EQ(ready.retries_apart(0), 7U);
}

TEST_F(ReadyRetries, ThatWereLeftOutAreAskedForWhenHalfOfTheirPartIsFree) {
  add(40, 0);
  pick(5, 0);
  ready.shrink_held(10);
  EXPECT_FALSE(ready.take_reload_wanted());
  pick(10, 5);
  EXPECT_TRUE(ready.take_reload_wanted());
  EXPECT_FALSE(ready.take_reload_wanted());
}

TEST_F(ReadyRetries, AreHeldUntilAsManyHaveStartedAsAreKept) {
  add(40, 0);
  pick(20, 0);
  ready.shrink_held(10);
  pick(6, 6);
  EXPECT_TRUE(ready.is_held({0, TaskClass::normal, true}));
  pick(4, 4);
  EXPECT_FALSE(ready.is_held({0, TaskClass::normal, true}));
  EXPECT_EQ(ready.room_for({0, TaskClass::normal, true}), 50U);
}

TEST_F(ReadyRetries, AreForgottenLikeOthers) {
  add(3, 2);
  ready.remove_if([](const DueTask& task) { return static_cast<int>(task.id) != 1; });
  EXPECT_EQ(ready.size(), 1U);
  EXPECT_EQ(ready.by_class()[0], 1U);
  EXPECT_EQ(pick(10, 10), (std::vector{1}));
}

TEST_F(ReadyRetries, ThatAreHereWaitApartAsSoonAsThereIsABudget) {
  for (int i = 0; i < 4; ++i) ready.add(i % 2 == 0 ? due_retry(i, 1) : due(i, 1));
  ready.keep_retries_apart(1, true);
  EXPECT_EQ(ready.retries_apart(1), 2U);
  EXPECT_EQ(pick(10, 0), (std::vector{1, 3}));
}

TEST_F(ReadyRetries, WaitWithOthersByDueTimeWhenThereIsNoBudgetAnyMore) {
  for (int i = 0; i < 4; ++i) {
    DueTask task = i % 2 == 0 ? due_retry(i) : due(i);
    task.due = TimePoint{Millis{i}};
    ready.add(task);
  }
  ready.keep_retries_apart(0, false);
  EXPECT_EQ(ready.retries_apart(0), 0U);
  EXPECT_EQ(ready.size(0), 4U);
  EXPECT_EQ(pick(10, 0), (std::vector{0, 1, 2, 3}));
}

}  // namespace
}  // namespace easyretry::engine
