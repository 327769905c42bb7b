#include <array>

#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

constexpr std::array kOutcomes{Outcome::succeeded,   Outcome::exhausted, Outcome::rejected,
                               Outcome::quarantined, Outcome::parked,    Outcome::cancelled};

TEST_P(StoreConformance, EachHistoryModeKeepsItsOutcomesAndLeavesNothingElse) {
  for (const History mode : {History::none, History::failures, History::all}) {
    start({.history = mode});
    for (const Outcome outcome : kOutcomes) {
      const TaskRecord claimed = running(a_task());
      EXPECT_TRUE(settle(finish(claimed, outcome)));
      EXPECT_EQ(find(claimed.info.id).has_value(), keeps(mode, outcome))
          << to_string(mode) << ' ' << to_string(outcome);
      EXPECT_EQ(count({.finished = true, .outcome = outcome}), keeps(mode, outcome) ? 1 : 0);
    }
    EXPECT_EQ(count({}), 0);
  }
}

TEST_P(StoreConformance, WithoutHistoryOnlyTheDeadAreKept) {
  start({.history = History::none});
  const TaskRecord quarantined = finished(a_task(), Outcome::quarantined);
  const TaskRecord parked = finished(a_task(), Outcome::parked);
  for (const TaskRecord& task : claim_all(insert_many(3, a_task()))) settle(finish(task));
  EXPECT_THAT(list({.finished = true}), UnorderedElementsAre(quarantined.info.id, parked.info.id));
  EXPECT_TRUE(requeue(quarantined.info.id));
  EXPECT_TRUE(requeue(parked.info.id));
}

TEST_P(StoreConformance, ATaskThatHistoryForgotCannotBeRequeued) {
  start({.history = History::none});
  const TaskRecord done = running(a_task());
  settle(finish(done));
  EXPECT_FALSE(requeue(done.info.id));
}

TEST_P(StoreConformance, ATaskThatHistoryForgotFreesItsKey) {
  start({.history = History::none});
  settle(finish(running(a_task().key("pay:42"))));
  EXPECT_TRUE(put(a_task().key("pay:42")).created);
}

TEST_P(StoreConformance, ACancelledTaskFollowsTheHistoryMode) {
  for (const History mode : {History::none, History::failures, History::all}) {
    start({.history = mode});
    const TaskRecord task = insert(a_task());
    EXPECT_TRUE(cancel(task.info.id));
    EXPECT_FALSE(cancel(task.info.id));
    EXPECT_EQ(find(task.info.id).has_value(), mode != History::none) << to_string(mode);
  }
}

TEST_P(StoreConformance, ALateFinisherOfAForgottenTaskChangesNothing) {
  start({.history = History::none});
  const TaskRecord done = running(a_task());
  settle(finish(done));
  EXPECT_FALSE(settle(finish(done)));
  EXPECT_FALSE(settle(retry(done, 1s)));
  EXPECT_EQ(count({}), 0);
}

TEST_P(StoreConformance, OneTaskLeavesOneRecordHoweverOftenItRan) {
  TaskRecord task = insert(a_task());
  for (int i = 0; i < 3; ++i) {
    settle(retry(claim(task), 0ms));
    task = again(task);
  }
  settle(finish(claim(task)));
  EXPECT_EQ(count({.finished = true, .key = task.info.key}), 1);
}

TEST_P(StoreConformance, HistoryReachesAcrossMonths) {
  const TaskRecord march = finished(a_task());
  clock().advance(24h * 31);
  const TaskRecord april = finished(a_task());
  EXPECT_THAT(list({.finished = true}), ElementsAre(march.info.id, april.info.id));
  EXPECT_EQ(count({.finished = true}), 2);
  EXPECT_TRUE(requeue(march.info.id));
}

TEST_P(StoreConformance, ATaskIsFoundInHistoryHoweverLongItTook) {
  const TaskRecord old = insert(a_task().due_in(24h * 70));
  clock().advance(24h * 70);
  settle(finish(claim(old)));
  EXPECT_EQ(again(old).info.state, TaskState::finished);
}

TEST_P(StoreConformance, HousekeepingTouchesNeitherLiveTasksNorRecentHistory) {
  const TaskRecord pending = insert(a_task());
  const TaskRecord held = running(a_task());
  const TaskRecord done = finished(a_task());
  must(store().keep());
  must(store().keep());
  expect_same(again(pending), pending);
  expect_same(again(held), held);
  expect_same(again(done), done);
}

TEST_P(StoreConformance, HousekeepingLeavesTheOldestLiveTask) {
  const TaskRecord old = insert(a_task().due_in(24h * 400));
  clock().advance(24h * 400);
  must(store().keep());
  expect_same(again(old), old);
  EXPECT_TRUE(try_claim(ticket(old)));
}

}  // namespace
}  // namespace easyretry::test
