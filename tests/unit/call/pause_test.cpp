// Paused handlers, from the application's side.

#include "unit/call/direct_call_fixture.h"

namespace easyretry::test {
namespace {

TEST_F(DirectCall, APausedHandlerIsNamedWithItsTimeAndReasonUntilItIsResumed) {
  EXPECT_TRUE(engine.pause("pay", "gateway down"));
  EXPECT_FALSE(engine.pause("pay", "still"));
  EXPECT_THAT(engine.paused(), ElementsAre(PausedHandler{"pay", engine.clock().now(), "gateway down"}));
  EXPECT_TRUE(engine.resume("pay"));
  EXPECT_FALSE(engine.resume("pay"));
  EXPECT_TRUE(engine.paused().empty());
}

TEST_F(DirectCall, AnInvalidHandlerNameIsRefused) {
  EXPECT_THROW(engine.pause(""), StoreError);
  EXPECT_THROW(engine.pause(std::string(201, 'x')), StoreError);
}

TEST_F(DirectCall, ARetryWaitsForTheResumeButTheFirstCallIsTheApplicationsOwn) {
  busy = 1;
  auto pay = pay_with(Persist::retry_only);
  engine.pause("pay", "gateway down");
  const auto first = pay(Order{"7"});
  EXPECT_EQ(calls, 1) << "a direct call is made anyway";
  EXPECT_EQ(first.state(), AttemptState::stored);
  engine.drain();
  engine.clock().advance(1h);
  EXPECT_EQ(engine.run_due(), 0U);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(engine.find(first.task())->attempts, 1);
  engine.resume("pay");
  EXPECT_EQ(engine.run_due(), 1U);
  EXPECT_EQ(engine.find(first.task())->outcome, Outcome::succeeded);
}

TEST_F(DirectCall, RetriesInMemoryAreNotPaused) {
  busy = 2;
  auto pay = engine.retryable("pay", gateway(), {.backoff = Fixed{10s}}, {.persist = Persist::never, .wait = false});
  engine.pause("pay");
  static_cast<void>(pay(Order{"7"}));
  engine.drain();
  EXPECT_EQ(calls, 3);
}

TEST_F(DirectCall, TasksOfOtherHandlersAreRunPastThePausedOnes) {
  auto pay = pay_with(Persist::retry_only);
  auto mail = engine.retryable("mail", [this](int) { ++calls; });
  engine.pause("pay");
  pay.submit(Order{"7"});
  mail.submit_after(1min, 1);
  EXPECT_EQ(engine.drain(), 1U);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace easyretry::test
