// A budget for retries in an engine of an application: what earns them, and how a manual engine runs them.

#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

// A gateway that is called through tasks and direct calls. Its circuit stays closed, however many calls fail.
struct RetryBudgetTest : EngineTest {
  auto handler(const std::string& name, std::optional<Persist> persist = {}) {
    HandlerOptions options;
    options.persist = persist;
    options.circuit = CircuitOptions{.name = "gateway", .least = 1'000'000, .probes = 0.01, .retries_at_most = 0.5};
    return engine.retryable(
        name,
        [this](int) {
          ++calls;
          if (down) throw Busy("gateway is down");
        },
        Policy{.backoff = Fixed{1s}, .stop = {.max_attempts = 5}}, options);
  }
  // The retries that start after a second. One is allowed in any case.
  int retries_allowed() {
    const int before = calls;
    engine.clock().advance(1s);
    engine.run_due();
    return calls - before;
  }
  // Leaves so many retries that are due; what their first attempts have earned is lost.
  void leave_behind(int tasks) {
    auto pay = handler("pay");
    for (int i = 0; i < tasks; ++i) pay.submit(i);
    engine.run_due();
    engine.clock().advance(15s);
    calls = 0;
  }

  bool down = true;
};

TEST_F(RetryBudgetTest, FirstAttemptsOfTasksEarnRetries) {
  leave_behind(30);
  auto refund = handler("refund");
  for (int i = 0; i < 10; ++i) refund.submit(i);
  engine.run_due();
  EXPECT_EQ(calls, 10 + 10 + 1);
}

TEST_F(RetryBudgetTest, DirectCallsEarnRetriesAndAreNotHeldBack) {
  leave_behind(30);
  for (const Persist persist : {Persist::retry_only, Persist::on_failure, Persist::always}) {
    auto pay = handler(std::string{"direct "} + std::to_string(static_cast<int>(persist)), persist);
    down = false;
    const int before = calls;
    for (int i = 0; i < 4; ++i) pay(i);
    EXPECT_EQ(calls, before + 4);
  }
  EXPECT_EQ(retries_allowed(), 13);
}

TEST_F(RetryBudgetTest, ADirectCallThatFailedEarnsOneRetryAlthoughItIsStoredAfterIt) {
  auto pay = handler("pay");
  for (int i = 0; i < 10; ++i) EXPECT_THAT(refusal([&] { pay(i); }), HasSubstr(""));
  EXPECT_EQ(calls, 10);
  EXPECT_EQ(retries_allowed(), 10) << "all of them";
  EXPECT_EQ(retries_allowed(), 1) << "the one that is allowed in any case";
}

TEST_F(RetryBudgetTest, CallsThatNoHandlerMadeEarnRetriesWhenTheyAreReported) {
  leave_behind(30);
  CircuitHandle gateway = engine.circuit("gateway");
  for (int i = 0; i < 7; ++i) gateway.record(true);
  EXPECT_EQ(retries_allowed(), 8);
}

TEST_F(RetryBudgetTest, DrainWaitsForRetriesThatAreHeldBack) {
  auto pay = handler("pay");
  for (int i = 0; i < 50; ++i) pay.submit(i);
  engine.run_due();
  down = false;
  engine.clock().advance(15s);
  engine.drain();
  EXPECT_EQ(calls, 100);
  EXPECT_EQ(engine.stats().succeeded, 50U);
}

TEST_F(RetryBudgetTest, RetriesThatWaitAreCountedInTheCircuit) {
  leave_behind(30);
  EXPECT_EQ(retries_allowed(), 1);
  const CircuitInfo gateway = engine.circuit("gateway").info();
  EXPECT_EQ(gateway.held_retries, 29U);
  EXPECT_TRUE(gateway.retries_held_since);
  EXPECT_EQ(gateway.state, CircuitState::closed);
  EXPECT_EQ(gateway.held, 0U) << "the circuit itself holds nothing back";
}

}  // namespace
}  // namespace easyretry::test
