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

TEST_F(DirectCall, NeverReportsAndThrowsTheLastFailure) {
  busy = 100;
  auto pay = pay_with(Persist::never, {.stop = {.max_attempts = 3}});
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Busy);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(told.size(), 1U);
}

TEST_F(DirectCall, NeverInTheBackgroundReturnsAtOnceAndRetriesInMemory) {
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

TEST_F(DirectCall, NeverAFailureNotWorthRetryingIsReportedWithAndWithoutAWaitingCaller) {
  for (const bool wait : {true, false}) {
    busy = 1;
    closed = true;
    auto pay = engine.retryable(wait ? "waits" : "does not", gateway(),
                                {.backoff = Fixed{10s}, .never_retry = {type<Closed>()}},
                                {.persist = Persist::never, .wait = wait});
    pay.on_final_failure([this](const Failure& failure, const TaskInfo&) {
      told.push_back(std::string{to_string(failure.outcome)} + ": " + failure.message);
    });
    const easyretry::testing::EventRecorder events{engine};
    if (wait) {
      EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Closed);
    } else {
      EXPECT_EQ(pay(Order{"7"}).state(), AttemptState::retrying);
    }
    engine.drain();
    EXPECT_EQ(events.all().back().kind, EventKind::gave_up);
    EXPECT_EQ(events.all().back().task.outcome, Outcome::rejected);
  }
  EXPECT_THAT(told, ElementsAre("rejected: the account is closed", "rejected: the account is closed"));
}

TEST_F(DirectCall, NeverARetryInMemoryCanBeCancelledAndTheOwnerIsNotified) {
  busy = 100;
  auto pay = engine.retryable("pay", gateway(), {.backoff = Fixed{10s}}, {.persist = Persist::never, .wait = false});
  const easyretry::testing::EventRecorder events{engine};
  EXPECT_TRUE(engine.cancel(pay(Order{"7"}).task()));
  EXPECT_EQ(events.kinds().back(), EventKind::cancelled) << "at once if there is no callback";

  pay.on_final_failure([this](const Failure& failure, const TaskInfo& task) {
    told.push_back(std::string{to_string(failure.outcome)} + " " + std::to_string(task.attempts));
  });
  const auto paid = pay(Order{"8"});
  EXPECT_TRUE(engine.cancel(paid.task()));
  EXPECT_FALSE(engine.cancel(paid.task()));
  engine.drain();
  EXPECT_THAT(told, ElementsAre("cancelled 1"));
  EXPECT_EQ(events.kinds().back(), EventKind::cancelled);
  EXPECT_EQ(engine.stats().cancelled, 2U);
}

TEST_F(DirectCall, NeverAResultAfterTheCancelChangesNothing) {
  busy = 1;
  auto pay = engine.retryable("pay", gateway(), {.backoff = Fixed{10s}}, {.persist = Persist::never, .wait = false});
  pay.on_success([this](const Receipt&, const TaskInfo&) { told.emplace_back("paid"); });
  pay.on_final_failure([this](const Failure& f, const TaskInfo&) { told.emplace_back(to_string(f.outcome)); });
  during = [this](const Order&) {
    if (current_task() != nullptr) engine.cancel(current_task()->info.id);
  };
  static_cast<void>(pay(Order{"7"}));
  engine.drain();
  EXPECT_THAT(told, ElementsAre("cancelled"));
  EXPECT_EQ(engine.stats().running, 0U);
  EXPECT_EQ(engine.stats().succeeded, 0U);
}

TEST_F(DirectCall, NeverAStoppedEngineTakesNoRetryUpAndSaysSo) {
  busy = 100;
  auto pay = engine.retryable("pay", gateway(), {.backoff = Fixed{10s}}, {.persist = Persist::never, .wait = false});
  pay.on_final_failure([this](const Failure& failure, const TaskInfo&) { told.push_back(failure.message); });
  engine.stop();
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Busy);
  EXPECT_THAT(told, ElementsAre(HasSubstr("the engine stopped")));
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
  std::vector<EventKind> events;  // of the call for which there is no room
  small.on_event([&](const Event& event) { events.push_back(event.kind); });
  EXPECT_THROW(static_cast<void>(pay(1024)), Busy);
  EXPECT_THAT(told, ElementsAre(HasSubstr("too many retries are waiting in memory")));
  EXPECT_THAT(events, ElementsAre(EventKind::attempt_failed, EventKind::gave_up));
}

TEST_F(DirectCall, NeverInTheBackgroundAListenerCanFindTheRetryByItsId) {
  busy = 1;
  auto pay = engine.retryable("pay", gateway(), {.backoff = Fixed{10s}}, {.persist = Persist::never, .wait = false});
  std::vector<TaskId> scheduled;
  pay.on_retry_scheduled([&](const std::string&, const TaskInfo& task) { scheduled.push_back(task.id); });
  const auto paid = pay(Order{"7"});
  EXPECT_THAT(scheduled, ElementsAre(paid.task()));
}

}  // namespace
}  // namespace easyretry::test
