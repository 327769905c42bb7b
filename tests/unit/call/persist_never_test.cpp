// Persist::never: retried in memory, while the caller waits or in the background.

#include "unit/call/direct_call_fixture.h"

namespace easyretry::test {
namespace {

TEST_F(DirectCall, NeverTheCallerWaitsThroughTheRetriesAndNothingIsStored) {
  busy = 2;
  auto pay = pay_with(Persist::never);
  const auto begun = engine.clock().now();
  auto paid = pay(Order{"7"});
  ASSERT_TRUE(paid);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(engine.clock().now() - begun, 20s);
  EXPECT_EQ(engine.stats().stored, 0U);
  EXPECT_THAT(told, ElementsAre("200"));
}

TEST_F(DirectCall, NeverTheLastFailureIsToldAndThrown) {
  busy = 100;
  auto pay = pay_with(Persist::never, {.stop = {.max_attempts = 3}});
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Busy);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(told.size(), 1U);
}

TEST_F(DirectCall, NeverInTheBackgroundTheCallerGoesOnAndTheEngineRetriesInMemory) {
  busy = 2;
  auto pay = engine.retryable("pay", gateway(), {.backoff = Fixed{10s}}, {.persist = Persist::never, .wait = false});
  pay.on_success([this](const Receipt& receipt, const TaskInfo&) { told.push_back(std::to_string(receipt.code)); });
  auto paid = pay(Order{"7"});
  EXPECT_EQ(paid.state(), AttemptState::retrying);
  EXPECT_EQ(calls, 1);
  engine.drain();
  EXPECT_EQ(calls, 3);
  EXPECT_THAT(told, ElementsAre("200"));
  EXPECT_EQ(engine.stats().stored, 0U);
}

TEST_F(DirectCall, NeverARetryInMemoryCanBeCancelledAndIsLostWithTheEngine) {
  busy = 100;
  auto pay = engine.retryable("pay", gateway(), {.backoff = Fixed{10s}}, {.persist = Persist::never, .wait = false});
  const auto first = pay(Order{"7"});
  const auto second = pay(Order{"8"});
  EXPECT_EQ(engine.find(first.task())->last_error, "the gateway is busy");
  EXPECT_TRUE(engine.cancel(first.task()));
  EXPECT_FALSE(engine.cancel(first.task()));
  engine.stop();
  EXPECT_EQ(engine.stats().lost_in_memory, 1U);
  EXPECT_EQ(calls, 2);
  EXPECT_NE(second.task(), first.task());
}

TEST_F(DirectCall, NeverInTheBackgroundTheBackoffSaysWhenAlsoForACallWithADueTime) {
  busy = 1;
  auto pay = engine.retryable("pay", gateway(), {.backoff = Fixed{10s}}, {.persist = Persist::never, .wait = false});
  const auto paid = pay.with({.due_at = engine.clock().now() + 1h})(Order{"7"});
  EXPECT_EQ(engine.find(paid.task())->next_at, engine.clock().now() + 10s);
}

TEST_F(DirectCall, NeverInTheBackgroundMemoryIsBounded) {
  EngineOptions options = quiet();
  options.read_ahead = 1024;
  ManualEngine small{options};
  auto pay = small.retryable("pay", [](int) { throw Busy("the gateway is busy"); }, {},
                             {.persist = Persist::never, .wait = false});
  pay.on_final_failure([this](const Failure& failure, const TaskInfo&) { told.push_back(failure.message); });
  for (int i = 0; i < 1024; ++i) EXPECT_EQ(pay(i).state(), AttemptState::retrying);
  std::vector<EventKind> events;  // of the one that has no room
  small.on_event([&](const Event& event) { events.push_back(event.kind); });
  EXPECT_THROW(static_cast<void>(pay(1024)), Busy);
  EXPECT_THAT(told, ElementsAre(HasSubstr("too many retries wait in memory")));
  EXPECT_THAT(events, ElementsAre(EventKind::attempt_failed, EventKind::gave_up));
}

TEST_F(DirectCall, NeverInTheBackgroundWhoeverIsToldOfTheRetryCanFindItByItsId) {
  busy = 1;
  auto pay = engine.retryable("pay", gateway(), {.backoff = Fixed{10s}}, {.persist = Persist::never, .wait = false});
  std::vector<TaskId> scheduled;
  pay.on_retry_scheduled([&](const std::string&, const TaskInfo& task) { scheduled.push_back(task.id); });
  const auto paid = pay(Order{"7"});
  EXPECT_THAT(scheduled, ElementsAre(paid.task()));
}

}  // namespace
}  // namespace easyretry::test
