// Changing a waiting task: its due time and its policy.

#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

struct Down : std::runtime_error {
  Down() : std::runtime_error("the gateway is down") {}
};

TEST_F(EngineTest, RetryNowEndsAWait) {
  bool down = true;
  auto pay = engine.retryable("pay",
                              [&](int) {
                                ++calls;
                                if (down) throw Down{};
                              },
                              {.backoff = Fixed{1h}});
  const TaskId id = pay.submit(42);
  engine.run_due();
  EXPECT_EQ(engine.run_due(), 0U);

  down = false;
  EXPECT_TRUE(engine.retry_now(id));
  EXPECT_EQ(engine.find(id)->next_at, engine.clock().now());
  EXPECT_EQ(engine.run_due(), 1U);
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
  EXPECT_EQ(engine.find(id)->attempts, 2) << "it is an attempt like any other";
}

TEST_F(EngineTest, RetryNowReachesATaskThatWasReadAhead) {
  auto pay = engine.retryable("pay", [&](int) { ++calls; });
  const TaskId id = pay.submit_after(2s, 1);  // within the window, so it is in memory with its present version
  EXPECT_TRUE(engine.retry_now(id));
  EXPECT_EQ(engine.run_due(), 1U);
  engine.clock().advance(2s);
  EXPECT_EQ(engine.run_due(), 0U) << "once, and not again at its old time";
  EXPECT_EQ(engine.stats().lost_claims, 0U) << "the copy in memory is dropped";
}

TEST_F(EngineTest, RetryNowLeavesADueTaskAsItIs) {
  auto pay = engine.retryable("pay", [&](int) { ++calls; });
  const TaskId id = pay.submit(1);
  EXPECT_TRUE(engine.retry_now(id));
  EXPECT_EQ(engine.find(id)->version, 1);
  EXPECT_EQ(engine.run_due(), 1U);
}

TEST_F(EngineTest, ATaskThatRunsHasEndedOrIsUnknownIsNotRevised) {
  TaskId id{};
  auto pay = engine.retryable("pay", [&](int) {
    ++calls;
    EXPECT_FALSE(engine.retry_now(id));
    EXPECT_FALSE(engine.revise_policy(id, {}));
  });
  id = pay.submit(1);
  engine.run_due();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded) << "the worker that ran it was not disturbed";
  EXPECT_FALSE(engine.retry_now(id));
  EXPECT_FALSE(engine.revise_policy(id, {}));
  EXPECT_FALSE(engine.retry_now(TaskId{12345}));
  EXPECT_FALSE(engine.revise_policy(TaskId{12345}, {}));
}

TEST_F(EngineTest, ATaskGoesOnByItsNewPolicy) {
  auto pay = engine.retryable("pay",
                              [&](int) {
                                ++calls;
                                throw Down{};
                              },
                              {.backoff = Fixed{1s}, .stop = {.max_attempts = 2}});
  const TaskId patient = pay.submit(1);
  const TaskId usual = pay.submit(2);
  engine.run_due();
  const TimePoint due = engine.find(patient)->next_at;
  EXPECT_TRUE(engine.revise_policy(patient, {.backoff = Fixed{1h}, .stop = {.max_attempts = 3}}));
  EXPECT_EQ(engine.find(patient)->next_at, due) << "the wait that has begun stays";

  engine.clock().advance(1s);
  EXPECT_EQ(engine.run_due(), 2U) << "on time, although another version of it was read ahead";
  EXPECT_EQ(engine.find(usual)->outcome, Outcome::exhausted);
  EXPECT_EQ(engine.find(patient)->next_at, engine.clock().now() + 1h);
  engine.clock().advance(1h);
  engine.run_due();
  EXPECT_EQ(engine.find(patient)->attempts, 3);
  EXPECT_EQ(engine.find(patient)->outcome, Outcome::exhausted);
}

TEST_F(EngineTest, ANewPolicyKeepsTheRulesThatItLeavesOpen) {
  auto pay = engine.retryable("pay",
                              [&](int) {
                                ++calls;
                                throw Down{};
                              },
                              {.backoff = Fixed{7s}, .stop = {.max_attempts = 2}});
  const TaskId id = pay.submit(1);
  EXPECT_TRUE(engine.revise_policy(id, {.stop = {.max_attempts = 3}}));
  engine.run_due();
  EXPECT_EQ(engine.find(id)->next_at - engine.clock().now(), 7s);
  EXPECT_TRUE(engine.revise_policy(id, {.backoff = Fixed{1s}}));
  engine.drain();
  EXPECT_EQ(calls, 3);
}

TEST_F(EngineTest, FewerAttemptsThanWereMadeEndATaskAtItsNextTurn) {
  auto pay = engine.retryable("pay",
                              [&](int) {
                                ++calls;
                                throw Down{};
                              },
                              {.backoff = Fixed{1s}});
  const TaskId id = pay.submit(1);
  engine.run_due();
  engine.clock().advance(1s);
  engine.run_due();
  EXPECT_TRUE(engine.revise_policy(id, {.stop = {.max_attempts = 1}}));
  engine.clock().advance(1s);
  engine.run_due();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(engine.find(id)->outcome, Outcome::exhausted);
}

TEST_F(EngineTest, APolicyForATaskSaysNothingThatOnlyAHandlerCan) {
  auto pay = engine.retryable("pay", [&](int) { ++calls; });
  const TaskId id = pay.submit_after(1h, 1);
  const auto refusal = [&](const Policy& policy) -> std::string {
    try {
      engine.revise_policy(id, policy);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal({.retry_on = {type<Down>()}}), HasSubstr("leave them out"));
  EXPECT_THAT(refusal({.never_retry = {type<Down>()}}), HasSubstr("leave them out"));
  EXPECT_THAT(refusal({.success_when = "result == 1"}), HasSubstr("leave them out"));
  EXPECT_THAT(refusal({.stop = {.max_attempts = -1}}), HasSubstr("policy.stop.max_attempts"));
  EXPECT_EQ(engine.find(id)->version, 1);
}

}  // namespace
}  // namespace easyretry::test
