// engine.circuit("x"): for code that decides before a call of its own, on a manual clock.

#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

struct CircuitHandleTest : EngineTest {
  static HandlerOptions guarded() {
    HandlerOptions options;
    options.circuit = CircuitOptions{.name = "gateway"};
    return options;
  }
  void fail(int times) {
    for (int i = 0; i < times; ++i) gateway.record(false);
  }

  Retryable<void, std::tuple<int>> pay = engine.retryable(
      "pay", [this](int) { ++calls; }, Policy{}, guarded());
  CircuitHandle gateway = engine.circuit("gateway");
};

TEST_F(CircuitHandleTest, CallsThatNoHandlerMadeCountWhenTheyAreReported) {
  EXPECT_FALSE(gateway.open());
  fail(30);
  EXPECT_TRUE(gateway.open());
  EXPECT_EQ(gateway.info().state, CircuitState::open);
}

TEST_F(CircuitHandleTest, AnswersCloseIt) {
  fail(30);
  engine.clock().advance(30s);
  gateway.record(true);
  EXPECT_FALSE(gateway.open()) << "it held nothing back for a window, and the last call was answered";
}

TEST_F(CircuitHandleTest, HeldOpenItIsOpenUntilItsTimeEndsAndTheClockIsTheManualOne) {
  gateway.force_open("the gateway moves", 1h);
  EXPECT_TRUE(gateway.open()) << "at once";
  for (int i = 0; i < 50; ++i) pay.submit(i);
  engine.run_due();
  EXPECT_TRUE(gateway.open());
  EXPECT_EQ(gateway.info().order->why, "the gateway moves");
  engine.clock().advance(59min);
  engine.run_due();
  EXPECT_EQ(calls, 0);
  engine.drain();
  EXPECT_EQ(calls, 50);
}

TEST_F(CircuitHandleTest, DrainEndsWhileItIsHeldOpenWithoutAnEnd) {
  gateway.force_open();
  pay.submit(1);
  engine.drain();
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(gateway.reset());
  engine.drain();
  EXPECT_EQ(calls, 1);
}

TEST_F(CircuitHandleTest, IsClosedWhileItIsIgnoredEvenIfEverythingFails) {
  gateway.ignore(10min);
  engine.run_due();
  fail(100);
  EXPECT_FALSE(gateway.open());
  engine.clock().advance(10min);
  fail(100);
  EXPECT_TRUE(gateway.open());
}

TEST_F(CircuitHandleTest, ANameThatNoHandlerHasIsRefusedWithASuggestion) {
  EXPECT_THAT(refusal([&] { engine.circuit("gatewy"); }), HasSubstr(R"(did you mean "gateway"?)"));
  EXPECT_THAT(refusal([&] { gateway.ignore(48h); }), HasSubstr("can be ignored for 1s to 1d"));
}

}  // namespace
}  // namespace easyretry::test
