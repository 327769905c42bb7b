// Limits in an engine: tasks of a handler beyond its limit are held back, and nothing else is.

#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Throws;
using ::testing::ThrowsMessage;

HandlerOptions limited(LimitOptions limit) {
  HandlerOptions options;
  options.limit = limit;
  return options;
}

struct LimitTest : EngineTest {
  Retryable<void, std::tuple<int>> limit_to(LimitOptions limit, const std::string& name = "pay") {
    return engine.retryable(
        name, [this](int) { ++calls; }, Policy{}, limited(limit));
  }
  void work_for(Millis time) {
    for (Millis passed{0}; passed < time; passed += 100ms) {
      engine.clock().advance(100ms);
      engine.run_due();
    }
  }
};

TEST_F(LimitTest, StartsAsManyPerSecondAsAllowed) {
  auto pay = limit_to({.per_second = 5});
  for (int i = 0; i < 1'000; ++i) pay.submit(i);
  work_for(1min);
  EXPECT_NEAR(calls, 300, 3);
}

TEST_F(LimitTest, DelaysOnlyItsOwnHandler) {
  auto pay = limit_to({.running = 0});
  int mailed = 0;
  auto mail = engine.retryable("mail", [&](int) { ++mailed; });
  for (int i = 0; i < 100; ++i) {
    pay.submit(i);
    mail.submit(i);
  }
  engine.run_due();
  EXPECT_EQ(mailed, 100);
  EXPECT_EQ(calls, 0);
}

TEST_F(LimitTest, HeldTasksUseNoAttemptAndAreNotWritten) {
  auto pay = limit_to({.running = 0});
  const TaskId id = pay.submit(1);
  const auto before = *engine.find(id);
  work_for(1min);
  const auto after = *engine.find(id);
  EXPECT_EQ(after.version, before.version);
  EXPECT_EQ(after.attempts, 0);
}

TEST_F(LimitTest, OfARunningLimitHoldsAlsoForTasksThatAreClaimedAhead) {
  auto pay = limit_to({.running = 3});
  std::size_t most = 0;
  engine.on_event([&](const Event& event) {
    if (event.kind == EventKind::claimed) most = std::max<std::size_t>(most, engine.stats().running + 1);
  });
  for (int i = 0; i < 100; ++i) pay.submit(i);
  engine.run_due();
  EXPECT_EQ(calls, 100);
  EXPECT_LE(most, 3U);
}

TEST_F(LimitTest, OfACircuitHoldsForItsHandlersTogether) {
  HandlerOptions options;
  options.circuit = CircuitOptions{.name = "gateway", .limit = {.per_second = 10}};
  auto pay = engine.retryable(
      "pay", [this](int) { ++calls; }, Policy{}, options);
  auto refund = engine.retryable(
      "refund", [this](int) { ++calls; }, Policy{}, options);
  for (int i = 0; i < 1'000; ++i) {
    pay.submit(i);
    refund.submit(i);
  }
  work_for(10s);
  EXPECT_NEAR(calls, 100, 2);
  EXPECT_THAT(engine.limits().at(0).handlers, ElementsAre("pay", "refund"));
}

TEST_F(LimitTest, OfAHandlerAndOfItsCircuitAreBothKept) {
  HandlerOptions options = limited({.per_second = 2});
  options.circuit = CircuitOptions{.name = "gateway", .limit = {.per_second = 10}};
  auto pay = engine.retryable(
      "pay", [this](int) { ++calls; }, Policy{}, options);
  for (int i = 0; i < 1'000; ++i) pay.submit(i);
  work_for(10s);
  EXPECT_NEAR(calls, 20, 1);
}

TEST_F(LimitTest, SaysWhatItHoldsBackAndSinceWhen) {
  auto pay = limit_to({.per_second = 1});
  EXPECT_FALSE(engine.limits().at(0).holds_since);
  for (int i = 0; i < 100; ++i) pay.submit(i);
  engine.run_due();
  const TimePoint since = engine.clock().now();
  work_for(5s);
  const LimitInfo limit = engine.limits().at(0);
  EXPECT_EQ(limit.subject, "handler pay");
  EXPECT_EQ(limit.holds_since, since);
  EXPECT_NEAR(static_cast<double>(limit.held_tasks), 94, 1);
  EXPECT_EQ(limit.starts_per_second_here, 1);
}

TEST_F(LimitTest, DirectCallsAreNotHeldBack) {
  auto pay = limit_to({.running = 0});
  pay(1);
  EXPECT_EQ(calls, 1);
}

TEST_F(LimitTest, DrainWaitsForIt) {
  auto pay = limit_to({.per_second = 0.1});
  for (int i = 0; i < 5; ++i) pay.submit(i);
  engine.drain(1min);
  EXPECT_EQ(calls, 5);
}

TEST_F(LimitTest, AWrongLimitIsRefused) {
  const auto refused = [&](LimitOptions limit, const char* because) {
    EXPECT_THAT([&] { limit_to(limit); }, ThrowsMessage<std::invalid_argument>(HasSubstr(because)));
  };
  refused({.running = -1}, "limit.running = -1");
  refused({.running = 2'000'000}, "limit.running = 2000000");
  refused({.per_second = 0}, "limit.per_second");
  refused({.per_second = -5}, "limit.per_second");
  refused({.per_second = std::numeric_limits<double>::quiet_NaN()}, "limit.per_second");
  refused({.per_second = 1, .burst = 0}, "limit.burst = 0");
  refused({.running = 1, .burst = 5}, "it is a part of per_second");
  EXPECT_THAT(engine.limits(), IsEmpty());
}

TEST_F(LimitTest, OfACircuitThatIsOffIsRefused) {
  HandlerOptions options;
  options.circuit = CircuitOptions{.trip_at = 1, .limit = {.running = 1}};
  EXPECT_THAT(
      [&] {
        engine.retryable(
            "pay", [](int) {}, Policy{}, options);
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("a circuit that is off limits nothing")));
}

TEST_F(LimitTest, ThatTwoHandlersOfACircuitSetDifferentlyIsRefused) {
  HandlerOptions options;
  options.circuit = CircuitOptions{.name = "gateway", .limit = {.running = 1}};
  engine.retryable(
      "pay", [](int) {}, Policy{}, options);
  options.circuit->limit.running = 2;
  EXPECT_THAT(
      [&] {
        engine.retryable(
            "refund", [](int) {}, Policy{}, options);
      },
      Throws<std::invalid_argument>());
}

}  // namespace
}  // namespace easyretry::test
