// Circuits in an engine: tasks of a handler whose downstream is away are held back, and nothing else is.

#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;
using ::testing::SizeIs;

HandlerOptions guarded(CircuitOptions circuit = {.name = "gateway"}) {
  HandlerOptions options;
  options.circuit = std::move(circuit);
  return options;
}

// A gateway that is called through two handlers, and mail, which works.
struct CircuitTest : EngineTest {
  void call_gateway() {
    ++calls;
    if (down) throw Busy("gateway is down");
    ++answered;
  }

  template <class Handle>
  static void submit(Handle& handle, int count) {
    for (int i = 0; i < count; ++i) handle.submit(i);
  }

  void work_for(Millis time, Millis step = 250ms) {
    for (Millis passed{0}; passed < time; passed += step) {
      engine.clock().advance(step);
      engine.run_due();
    }
  }

  CircuitInfo gateway() { return engine.circuits().at(0); }

  const Policy patient{.backoff = Fixed{1s}, .stop = {.max_attempts = 5}};
  Retryable<void, std::tuple<int>> pay = engine.retryable(
      "pay", [this](int) { call_gateway(); }, patient, guarded());
  Retryable<void, std::tuple<int>> refund = engine.retryable(
      "refund", [this](int) { call_gateway(); }, patient, guarded());
  Retryable<void, std::tuple<int>> mail = engine.retryable("mail", [this](int) { ++mailed; });
  easyretry::testing::EventRecorder events{engine};
  bool down = true;
  int answered = 0;
  int mailed = 0;
};

TEST_F(CircuitTest, AnOutageIsProbedOnceASecondAndEveryTaskSucceedsAfterIt) {
  submit(pay, 1'000);
  work_for(1min);
  EXPECT_EQ(gateway().state, CircuitState::open);
  const int before = calls;
  work_for(10min);
  EXPECT_NEAR(calls - before, 600, 10);
  down = false;
  work_for(2min);
  EXPECT_EQ(answered, 1'000);
  work_for(20s);
  EXPECT_EQ(gateway().state, CircuitState::closed);
}

TEST_F(CircuitTest, TheTasksItHoldsBackStayAsTheyAre) {
  submit(mail, 1);
  submit(pay, 2'500);  // more than one claim takes
  engine.run_due();
  submit(refund, 1);
  const TaskInfo before = engine.list({.handler = "refund"}).front();
  const int called = calls;
  engine.clock().advance(500ms);
  engine.run_due();
  EXPECT_EQ(calls, called);
  const TaskInfo held = *engine.find(before.id);
  EXPECT_EQ(held.version, before.version);
  EXPECT_EQ(held.attempts, 0);
}

TEST_F(CircuitTest, OtherHandlersGoOn) {
  submit(pay, 1'000);
  work_for(10s);
  submit(mail, 100);
  engine.run_due();
  EXPECT_EQ(mailed, 100);
}

TEST_F(CircuitTest, HandlersWithOneNameShareTheProbes) {
  submit(pay, 100);
  submit(refund, 100);
  work_for(10s);
  const int before = calls;
  work_for(1min);
  EXPECT_NEAR(calls - before, 60, 2);
  EXPECT_THAT(gateway().handlers, ElementsAre("pay", "refund"));
}

TEST_F(CircuitTest, AnAnswerThatSaysNoIsAnAnswer) {
  Policy policy = patient;
  policy.never_retry = {type<Closed>()};
  auto ask = engine.retryable(
      "ask", [this](int) { throw Closed("account closed"); }, policy, guarded({}));
  submit(ask, 1'000);
  engine.run_due();
  EXPECT_EQ(engine.circuits().at(0).name, "ask");
  EXPECT_EQ(engine.circuits().at(0).state, CircuitState::closed);
  EXPECT_EQ(engine.circuits().at(0).answered, 1'000U);
}

TEST_F(CircuitTest, DirectCallsCountAndAreNotHeldBack) {
  for (int i = 0; i < 30; ++i) EXPECT_THAT(refusal([&] { pay(i); }), HasSubstr(""));
  EXPECT_EQ(calls, 30);
  EXPECT_EQ(gateway().state, CircuitState::open);
}

TEST_F(CircuitTest, ListenersAreToldThatItOpenedAndClosed) {
  submit(pay, 100);
  work_for(10s);
  EXPECT_EQ(events.count(EventKind::circuit_opened), 1U);
  down = false;
  work_for(2min);
  EXPECT_EQ(events.count(EventKind::circuit_closed), 1U);
  EXPECT_EQ(events.count(EventKind::circuit_opened), 1U);
}

TEST_F(CircuitTest, ATaskWhoseTimeIsOverEndsAlthoughItIsHeldBack) {
  Policy hurried = patient;
  hurried.stop.max_duration = 30s;
  auto book = engine.retryable(
      "book", [this](int) { call_gateway(); }, hurried, guarded());
  submit(pay, 100);
  submit(book, 1);
  work_for(3min);
  EXPECT_THAT(engine.list({.finished = true, .handler = "book"}), SizeIs(1));
}

TEST_F(CircuitTest, DrainWaitsForTasksThatItHoldsBack) {
  submit(pay, 50);
  engine.run_due();
  down = false;
  engine.drain();
  EXPECT_EQ(answered, 50);
}

TEST_F(CircuitTest, TwoHandlersThatConfigureItDifferentlyAreRefused) {
  EXPECT_THAT(refusal([&] {
                engine.retryable(
                    "book", [](int) {}, patient, guarded({.name = "gateway", .probes = 5}));
              }),
              HasSubstr(R"(circuit "gateway" is configured differently by the handlers "pay" and "book")"));
  EXPECT_THAT(refusal([&] {
                engine.retryable(
                    "book", [](int) {}, patient, guarded({.trip_at = 2}));
              }),
              HasSubstr("circuit.trip_at = 2"));
}

TEST_F(CircuitTest, AHandlerWithoutOneHasNone) {
  EXPECT_THAT(engine.circuits(), SizeIs(1));
}

}  // namespace
}  // namespace easyretry::test
