#include "server/waits_for.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct WaitsForTest : ::testing::Test {
  WaitsForTest() {
    record.info.handler = "mail";
    record.info.next_at = now + 60s;
    record.rules.max_attempts = 10;
  }
  WaitsFor seen(Surroundings around = {}) const {
    around.now = now;
    return waits_for(record, around);
  }
  void fail_once() {
    record.info.attempts = 1;
    record.info.last_error = "no route to host";
    record.info.last_failed_at = now - 1s;
  }

  const TimePoint now{std::chrono::sys_days{std::chrono::year{2026} / 3 / 1} + 12h};
  task::TaskRecord record;
};

TEST_F(WaitsForTest, ANewTaskWaitsForItsDueTime) {
  const WaitsFor seen_now = seen();
  EXPECT_EQ(seen_now.kind, "later");
  EXPECT_EQ(seen_now.text, "attempt 1 of 10 is due at 2026-03-01T12:01:00.000Z");
  EXPECT_EQ(seen_now.until->at, record.info.next_at);
}

TEST_F(WaitsForTest, ATaskThatFailedWaitsForItsNextAttempt) {
  fail_once();
  EXPECT_EQ(seen().kind, "retry");
  EXPECT_EQ(seen().text, "attempt 1 of 10 failed, and the next one is due at 2026-03-01T12:01:00.000Z");
  EXPECT_EQ(seen().since->at, now - 1s);
  record.rules.max_attempts = 0;
  EXPECT_THAT(seen().text, HasSubstr("attempt 1 failed")) << "there is no limit";
}

TEST_F(WaitsForTest, ATaskOfAPausedHandlerWaitsForItsEnd) {
  const PausedHandler pause{"mail", now - 60s, "gateway down"};
  for (const auto due : {now + 60s, now - 60s}) {
    record.info.next_at = due;
    EXPECT_EQ(seen({.paused = pause}).kind, "paused");
    EXPECT_EQ(seen({.paused = pause}).text,
              "its handler mail has been paused since 2026-03-01T11:59:00.000Z: gateway down");
    EXPECT_EQ(seen({.paused = pause}).why, "gateway down");
  }
}

TEST_F(WaitsForTest, ADueTaskOfAClassSaysWhatItsShareIs) {
  record.info.next_at = now - 5s;
  EXPECT_EQ(seen({.served = true}).text, "it has been due for 5 s, behind other tasks or until a worker is free");
  record.info.task_class = TaskClass::background;
  EXPECT_THAT(seen({.served = true}).text, HasSubstr("1 is of the background, as it is"));
  record.info.task_class = TaskClass::urgent;
  EXPECT_THAT(seen({.served = true}).text, HasSubstr("16 are urgent, as it is"));
}

TEST_F(WaitsForTest, ADueTaskWaitsForAnInstanceOrBehindOthers) {
  record.info.next_at = now - 5s;
  EXPECT_EQ(seen({.served = false}).kind, "no_handler");
  EXPECT_EQ(seen({.served = false}).text,
            "it has been due for 5 s, and no instance or worker takes tasks of its handler mail");
  EXPECT_EQ(seen({.served = true}).kind, "due");
  record.info.next_at = now;
  EXPECT_EQ(seen({.served = true}).kind, "due") << "due is due";
}

TEST_F(WaitsForTest, ADueTaskThatALimitHoldsBackSaysWhichSinceWhenAndHowLong) {
  record.info.next_at = now - 5s;
  LimitInfo limit;
  limit.subject = "handler mail";
  limit.running = 1;
  limit.per_second = 0.5;
  limit.holds_since = now - 60s;
  limit.held_tasks = 7;
  const WaitsFor held = seen({.limit = limit});
  EXPECT_EQ(held.kind, "limit");
  EXPECT_THAT(held.text, HasSubstr("handler mail allows 1 running task and 0.5 starts a second"));
  EXPECT_THAT(held.text, HasSubstr("for 5 s, with 7 due tasks"));
  EXPECT_EQ(held.since->at, now - 5s) << "it was not due before";
  record.info.next_at = now + 5s;
  EXPECT_EQ(seen({.limit = limit}).kind, "later");
}

TEST_F(WaitsForTest, ADueTaskThatAnOpenCircuitHoldsBackSaysForHowLongAndWhenTheNextOneStarts) {
  record.info.next_at = now - 60s;
  CircuitInfo circuit{.name = "gateway", .state = CircuitState::open, .since = now - 90s, .starts_per_second = 0.2};
  EXPECT_EQ(seen({.circuit = circuit}).kind, "circuit");
  EXPECT_EQ(
      seen({.circuit = circuit}).text,
      "the circuit gateway has been open since 2026-03-01T11:58:30.000Z, because calls fail; it has waited for that "
      "for 60 s; about 0.2 tasks a second start until it closes, the next one within 5 s");
  EXPECT_EQ(seen({.circuit = circuit}).since->at, now - 60s);
  circuit.starts_per_second = 40;
  EXPECT_THAT(seen({.circuit = circuit}).text, HasSubstr("the next one within 1 s"));
}

TEST_F(WaitsForTest, ADueRetryThatABudgetHoldsBackSaysWhichSinceWhenAndBesideHowMany) {
  record.info.next_at = now - 5s;
  const CircuitInfo circuit{
      .name = "gateway", .retries_at_most = 0.2, .retries_held_since = now - 60s, .held_retries = 7};
  EXPECT_EQ(seen({.budget = circuit}).kind, "due") << "its first attempt is not held back";
  fail_once();
  EXPECT_EQ(seen({.budget = circuit}).kind, "retry_budget");
  EXPECT_EQ(
      seen({.budget = circuit}).text,
      "the circuit gateway lets at most 20 % of the attempts be retries, and has held retries back since "
      "2026-03-01T11:59:00.000Z; it has waited for that for 5 s, with 7 due retries on the instance that answers");
  EXPECT_EQ(seen({.budget = circuit}).since->at, now - 5s) << "it was not due before";
  record.info.stage = Stage::on_final_failure;
  EXPECT_EQ(seen({.budget = circuit}).kind, "due") << "a callback is no retry";
}

TEST_F(WaitsForTest, ARunningTaskIsOnAnInstanceUntilItsLeaseEnds) {
  record.info.state = TaskState::running;
  record.info.attempts = 2;
  record.locked_by = "host-1";
  record.lease_until = now + 30s;
  EXPECT_EQ(seen().kind, "running");
  EXPECT_EQ(seen().text, "attempt 2 of 10 is running on host-1, whose lease lasts until 2026-03-01T12:00:30.000Z");
  EXPECT_EQ(seen().by, "host-1");
  record.lease_until = now;
  EXPECT_EQ(seen().kind, "lease_over");
}

TEST_F(WaitsForTest, ACallbackIsNamed) {
  fail_once();
  record.info.stage = Stage::on_final_failure;
  EXPECT_EQ(seen().kind, "later");
  EXPECT_THAT(seen().text, HasSubstr("its callback on_final_failure is due at"));
}

TEST_F(WaitsForTest, AFinishedTaskWaitsForNothing) {
  record.info.state = TaskState::finished;
  record.info.outcome = Outcome::exhausted;
  record.info.finished_at = now - 1s;
  EXPECT_EQ(seen().kind, "finished");
  EXPECT_EQ(seen().text, "it has ended: exhausted");
  record.info.requeued_as = TaskId{17};
  EXPECT_EQ(seen().text, "it has ended: exhausted, and was requeued as 17");
}

}  // namespace
}  // namespace easyretry::server
