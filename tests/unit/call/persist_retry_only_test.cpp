// Persist::retry_only: stored after a first attempt that failed and is worth retrying.

#include <easyretry/config.h>

#include "support/temp_folder.h"
#include "unit/call/direct_call_fixture.h"

namespace easyretry::test {
namespace {

TEST_F(DirectCall, RetryOnlyASuccessIsReturnedAndToldAndNothingIsStored) {
  auto pay = pay_with(Persist::retry_only);
  auto paid = pay(Order{"7"});
  ASSERT_TRUE(paid);
  EXPECT_EQ(paid->code, 200);
  EXPECT_EQ((*paid).code, 200);
  EXPECT_EQ(paid.task(), TaskId{});
  EXPECT_EQ(engine.stats().stored, 0U);
  EXPECT_THAT(told, ElementsAre("200"));
}

TEST_F(DirectCall, RetryOnlyAFailureWorthRetryingIsStoredBeforeTheCallReturnsAndThenSucceeds) {
  busy = 1;
  auto pay = pay_with(Persist::retry_only);
  auto paid = pay(Order{"7"});
  ASSERT_TRUE(paid.stored());
  EXPECT_FALSE(paid);
  EXPECT_EQ(paid.error(), "the gateway is busy");
  EXPECT_THROW(std::rethrow_exception(paid.exception()), Busy);
  EXPECT_THROW(paid.value(), NoValueYet);

  const auto row = engine.find(paid.task());
  ASSERT_TRUE(row);
  EXPECT_EQ(row->state, TaskState::pending);
  EXPECT_EQ(row->attempts, 1);
  EXPECT_EQ(row->last_error, "the gateway is busy");
  EXPECT_EQ(row->next_at, engine.clock().now() + 10s);
  EXPECT_EQ(engine.run_due(), 0U) << "it is not due yet";
  EXPECT_THAT(told, ElementsAre());

  engine.drain();
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(told, ElementsAre("200"));
  EXPECT_EQ(engine.find(paid.task())->outcome, Outcome::succeeded);
  EXPECT_EQ(engine.find(paid.task())->attempts, 2);
}

TEST_F(DirectCall, RetryOnlyASuccessEndsTheTaskThatAnEarlierFailureOfTheSameCallHasLeft) {
  busy = 1;
  auto pay = pay_with(Persist::retry_only);
  const auto failed = pay(Order{"7"});
  ASSERT_TRUE(failed.stored());
  ASSERT_TRUE(pay(Order{"7"}));
  EXPECT_EQ(engine.find(failed.task())->outcome, Outcome::succeeded);
  engine.drain();
  EXPECT_EQ(calls, 2) << "it is not run again";
  EXPECT_THAT(told, ElementsAre("200")) << "the callback runs once";
  EXPECT_EQ(engine.stats().succeeded, 1U);
}

TEST_F(DirectCall, RetryOnlyASuccessWithAKeyEndsTheTaskThatAnotherProcessHasLeft) {
  const TempFolder folder;
  const Config config{.store = folder.sqlite_url(), .engine = quiet()};
  busy = 1;
  TaskId left{};
  {
    ManualEngine first{config};
    auto pay = first.retryable("pay", gateway(), Policy{.backoff = Fixed{10s}});
    left = pay.with({.key = "order-7"})(Order{"7"}).task();
  }
  ManualEngine second{config};
  auto pay = second.retryable("pay", gateway(), Policy{.backoff = Fixed{10s}});
  ASSERT_TRUE(pay.with({.key = "order-7"})(Order{"7"}));
  second.drain();
  EXPECT_EQ(second.find(left)->outcome, Outcome::succeeded);
  EXPECT_EQ(calls, 2);
}

TEST_F(DirectCall, RetryOnlyASuccessLeavesTasksOfOtherKeysAlone) {
  busy = 1;
  auto pay = pay_with(Persist::retry_only);
  const auto failed = pay(Order{"7"});
  ASSERT_TRUE(pay(Order{"8"}));
  EXPECT_EQ(engine.find(failed.task())->state, TaskState::pending);
}

TEST_F(DirectCall, RetryOnlyTheFirstCallCountsAsAnAttempt) {
  busy = 100;
  auto pay = pay_with(Persist::retry_only, {.stop = {.max_attempts = 3}});
  const auto paid = pay(Order{"7"});
  engine.drain();
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(engine.find(paid.task())->outcome, Outcome::exhausted);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0], HasSubstr("the gateway is busy"));
}

TEST_F(DirectCall, RetryOnlyAFailureNotWorthRetryingIsThrownUnchangedAndNotStored) {
  closed = true;
  auto pay = pay_with(Persist::retry_only);
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Closed);
  EXPECT_EQ(engine.stats().stored, 0U);
  EXPECT_THAT(told, ElementsAre());
}

TEST_F(DirectCall, RetryOnlyAResultThatIsNoSuccessIsStored) {
  bad_codes = 1;
  auto pay = pay_with(Persist::retry_only, {.success_when = "result.code == 200 and args[1].id == '7'"});
  auto paid = pay(Order{"7"});
  ASSERT_TRUE(paid.stored());
  EXPECT_FALSE(paid.has_value());
  EXPECT_EQ(paid.exception(), nullptr);
  EXPECT_THAT(paid.error(), HasSubstr("result.code == 200"));
  engine.drain();
  EXPECT_THAT(told, ElementsAre("200"));
}

TEST_F(DirectCall, AFirstFailureThatIsAlsoTheLastIsReportedAndThrownAndNotStored) {
  busy = 1;
  auto pay = pay_with(Persist::retry_only, {.stop = {.max_attempts = 1}});
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Busy);
  EXPECT_EQ(engine.stats().stored, 0U);
  ASSERT_EQ(told.size(), 1U);
}

TEST_F(DirectCall, AnOrdersOwnDeadlineStopsTheRetriesOfADirectCall) {
  busy = 100;
  auto pay = pay_with(Persist::retry_only);
  SubmitOptions options;
  options.deadline = engine.clock().now() + 25s;
  EXPECT_TRUE(pay.with(options)(Order{"7"}).stored());
  engine.drain();
  EXPECT_EQ(calls, 3) << "at 0, 10 and 20 s";
}

TEST_F(DirectCall, RethrowShowsTheFirstFailureToTheCallerAlthoughItIsStored) {
  busy = 1;
  auto pay = engine.retryable("pay", gateway(), {}, {.rethrow = true});
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Busy);
  EXPECT_EQ(engine.stats().stored, 1U);
  engine.drain();
  EXPECT_EQ(calls, 2);
}

TEST_F(DirectCall, TheSameArgumentsFailingTwiceAreOneTask) {
  busy = 2;
  auto pay = pay_with(Persist::retry_only);
  const auto first = pay(Order{"7"});
  const auto second = pay(Order{"7"});
  EXPECT_EQ(first.task(), second.task());
  EXPECT_EQ(engine.stats().stored, 1U);
}

}  // namespace
}  // namespace easyretry::test
