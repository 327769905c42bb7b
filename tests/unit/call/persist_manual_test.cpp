// Persist::manual: stored when the caller says so.

#include "unit/call/direct_call_fixture.h"

namespace easyretry::test {
namespace {

TEST_F(DirectCall, ManualACallOnlyCallsAndTheCallerJudges) {
  busy = 1;
  auto pay = pay_with(Persist::manual, {.success_when = "result.code == 200"});
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Busy);
  bad_codes = 1;
  auto paid = pay(Order{"7"});
  EXPECT_EQ(paid.state(), AttemptState::failed);
  EXPECT_EQ(paid->code, 500);
  EXPECT_TRUE(pay(Order{"7"}));
  EXPECT_EQ(engine.stats().stored, 0U);
  EXPECT_THAT(told, ElementsAre());
}

TEST_F(DirectCall, ManualStoresATaskThatIsRetriedLikeAFailedFirstAttempt) {
  auto pay = pay_with(Persist::manual);
  const TaskId id = pay.store(Order{"7"}, "step 3 of the checkout failed");
  const auto row = engine.find(id);
  EXPECT_EQ(row->attempts, 1);
  EXPECT_EQ(row->last_error, "step 3 of the checkout failed");
  EXPECT_EQ(row->next_at, engine.clock().now() + 10s);
  engine.drain();
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(told, ElementsAre("200"));
}

TEST_F(DirectCall, ManualStoringWorksFromInsideAHandler) {
  auto pay = pay_with(Persist::manual);
  TaskId stored{};
  auto checkout = engine.retryable("checkout", [&](const Order& order) { stored = pay.store(order, "no money yet"); });
  checkout.submit(Order{"7"});
  engine.run_due();
  ASSERT_TRUE(engine.find(stored));
  EXPECT_EQ(engine.find(stored)->handler, "pay");
  engine.drain();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace easyretry::test
