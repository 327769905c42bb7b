// Persist::always: stored before the first attempt, and leased by the caller while it runs.

#include "unit/call/direct_call_fixture.h"

namespace easyretry::test {
namespace {

TEST_F(DirectCall, AlwaysStoresAndLeasesTheRowBeforeTheFirstAttemptRuns) {
  auto pay = pay_with(Persist::always);
  bool seen = false;
  during = [&](const Order&) {
    const TaskContext* task = current_task();
    ASSERT_NE(task, nullptr);
    EXPECT_TRUE(task->first);
    EXPECT_EQ(task->info.attempts, 1);
    const auto row = engine.find(task->info.id);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->state, TaskState::running);
    EXPECT_EQ(engine.run_due(), 0U) << "no other worker runs it meanwhile";
    seen = true;
  };
  auto paid = pay(Order{"7"});
  EXPECT_TRUE(seen);
  ASSERT_TRUE(paid);
  EXPECT_EQ(paid->code, 200);
  EXPECT_THAT(told, ElementsAre("200"));
  EXPECT_EQ(engine.stats().succeeded, 1U);
  EXPECT_EQ(live(), 0U);
  EXPECT_EQ(current_task(), nullptr);
}

TEST_F(DirectCall, AlwaysACallThatOutlastsItsLeaseKeepsIt) {
  auto pay = pay_with(Persist::always);
  during = [&](const Order&) {
    if (calls > 1) return;
    for (int i = 0; i < 5; ++i) {
      engine.clock().advance(10s);
      EXPECT_EQ(engine.run_due(), 0U) << "another worker took it over";
    }
  };
  EXPECT_TRUE(pay(Order{"7"}));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(engine.stats().leases_lost, 0U);
  EXPECT_EQ(engine.stats().succeeded, 1U);
}

TEST_F(DirectCall, AlwaysAFailureLeavesTheRowPending) {
  busy = 1;
  auto pay = pay_with(Persist::always);
  auto paid = pay(Order{"7"});
  ASSERT_TRUE(paid.stored());
  const auto row = engine.find(paid.task());
  EXPECT_EQ(row->state, TaskState::pending);
  EXPECT_EQ(row->attempts, 1);
  EXPECT_EQ(row->next_at, engine.clock().now() + 10s);
  engine.drain();
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(told, ElementsAre("200"));
}

TEST_F(DirectCall, AlwaysAFailureNotWorthRetryingRemovesTheRowAndIsThrown) {
  closed = true;
  auto pay = pay_with(Persist::always);
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Closed);
  EXPECT_EQ(engine.stats().rejected, 1U);
  EXPECT_EQ(live(), 0U);
  EXPECT_THAT(told, ElementsAre());
}

TEST_F(DirectCall, AlwaysACallWhoseTaskIsLiveAlreadyDoesNotRunBesideIt) {
  busy = 1;
  auto pay = pay_with(Persist::always);
  const auto first = pay(Order{"7"});
  const auto second = pay(Order{"7"});
  EXPECT_TRUE(second.stored());
  EXPECT_EQ(first.task(), second.task());
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace easyretry::test
