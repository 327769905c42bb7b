// Orders of people to a circuit: held open, ignored, reset.

#include "unit/engine/guarded_pair.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CircuitOrderTest : public GuardedPairTest {
 protected:
  CircuitOrderTest() { down = false; }

  static void hold_open(VirtualInstance& one, std::optional<Millis> time = {}) {
    ASSERT_TRUE(one.core.order_circuit("gateway", CircuitState::open, time, "the gateway moves"));
  }
  static void ignore(VirtualInstance& one, Millis time) {
    ASSERT_TRUE(one.core.order_circuit("gateway", CircuitState::closed, time, ""));
  }
  static std::string refusal(const Result<CircuitOrder>& answer) { return answer ? "" : to_string(answer.error()); }
  int calls_in(Millis time, std::initializer_list<VirtualInstance*> instances) {
    const int before = calls;
    work_for(time, instances);
    return calls - before;
  }
};

TEST_F(CircuitOrderTest, HeldOpenNothingStartsNotEvenProbesUntilItIsReset) {
  hold_open(instance);
  submit(instance, 100);
  EXPECT_EQ(calls_in(1h, {&instance}), 0);
  EXPECT_EQ(instance.core.circuits().at(0).starts_per_second, 0.0);
  EXPECT_TRUE(*instance.core.reset_circuit("gateway"));
  EXPECT_EQ(calls_in(2min, {&instance}), 100);
}

TEST_F(CircuitOrderTest, TheOtherInstancesObeyWithinTwoSeconds) {
  submit(other, 10);
  work(other);
  ASSERT_EQ(calls, 10);
  hold_open(instance);
  work_for(2s, {&other});
  submit(other, 10);
  EXPECT_EQ(calls_in(5s, {&other}), 0);
  EXPECT_EQ(state(other), CircuitState::open);
  ASSERT_TRUE(*other.core.reset_circuit("gateway"));
  work_for(2min, {&instance, &other});
  EXPECT_EQ(calls, 20);
}

TEST_F(CircuitOrderTest, AnInstanceThatStartsLaterObeysBeforeItsFirstAttempt) {
  hold_open(instance);
  VirtualInstance later{store, shared.clock};
  HandlerOptions guarded;
  guarded.circuit = CircuitOptions{.name = "gateway"};
  later.handle(
      "pay", [this] { call_gateway(); }, Policy{}, guarded);
  submit(later, 10);
  EXPECT_EQ(calls_in(1min, {&later}), 0);
  EXPECT_EQ(later.core.circuits().at(0).order->why, "the gateway moves");
}

TEST_F(CircuitOrderTest, ItEndsWithItsTimeAndTheBacklogComesInSteps) {
  submit(instance, 1'000);
  hold_open(instance, 10min);
  EXPECT_EQ(calls_in(10min - 1s, {&instance}), 0);
  EXPECT_LE(calls_in(6s, {&instance}), 10) << "not all at once";
  work_for(2min, {&instance});
  EXPECT_EQ(calls, 1'000);
  EXPECT_EQ(state(instance), CircuitState::closed);
}

TEST_F(CircuitOrderTest, ClaimedAheadTheyAreHandedBack) {
  submit(instance, 100);
  instance.claim();
  instance.core.circuit_watch().step();
  instance.claim();
  ASSERT_GT(instance.core.workers().waiting(), 0U);
  hold_open(instance);
  instance.core.pause_watch().step();
  EXPECT_EQ(instance.core.workers().waiting(), 0U);
  EXPECT_EQ(calls, 0);
}

TEST_F(CircuitOrderTest, IgnoredItHoldsNothingBackForThatTime) {
  down = true;
  submit(instance, 100);
  work_for(10s, {&instance});
  ASSERT_EQ(state(instance), CircuitState::open);
  ignore(instance, 10min);
  EXPECT_GE(calls_in(1min, {&instance}), 5'000) << "each tries once a second";
  EXPECT_EQ(state(instance), CircuitState::closed);
  work_for(9min, {&instance});
  EXPECT_NEAR(calls_in(1min, {&instance}), 60, 30) << "it has opened again";
}

TEST_F(CircuitOrderTest, ReportsOfInstancesThatHaveNotHeardOfItDoNotEndIt) {
  Circuit circuit{CircuitOptions{}};
  const Instant now = shared.clock.steady();
  circuit.obey(now, Circuit::Order{.state = CircuitState::closed, .since = now, .until = now + 1min});
  const CircuitReport report{.made = now + 1s, .state = CircuitState::open, .since = now + 1s};
  circuit.learn(now + 1s, {{report}});
  EXPECT_EQ(circuit.view(now + 2s).state, CircuitState::closed);
  circuit.rest(now + 2s, 1min);
  EXPECT_EQ(circuit.reserve(now + 3s, 100), 100U);
}

TEST_F(CircuitOrderTest, TheLastOneCountsAndThereIsNoPausedHandler) {
  hold_open(instance);
  ignore(other, 10min);
  const CircuitOrders orders = *instance.core.circuit_orders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders.at("gateway").state, CircuitState::closed);
  EXPECT_THAT(instance.core.paused()->handlers, IsEmpty());
  EXPECT_TRUE(*instance.core.reset_circuit("gateway"));
  EXPECT_FALSE(*instance.core.reset_circuit("gateway"));
}

TEST_F(CircuitOrderTest, AnIdleInstanceAsksNothingAfterItsTime) {
  hold_open(instance, 1min);
  work_for(2min, {&instance});
  store->looks_for_pauses = 0;
  work_for(10min, {&instance});
  EXPECT_EQ(store->looks_for_pauses, 0);
}

TEST_F(CircuitOrderTest, TimesNamesAndReasonsThatAreOutOfBoundsAreRefused) {
  const auto order = [this](std::string_view name, CircuitState state, std::optional<Millis> time,
                            std::string_view why = {}) {
    return refusal(instance.core.order_circuit(name, state, time, why));
  };
  using enum CircuitState;
  EXPECT_THAT(order("gateway", closed, std::nullopt), HasSubstr("say for how long the circuit is ignored"));
  EXPECT_THAT(order("gateway", closed, 25h), HasSubstr("can be ignored for 1s to 1d, not for 25h"));
  EXPECT_THAT(order("gateway", closed, -5s), HasSubstr("not for -5s"));
  EXPECT_THAT(order("gateway", open, Millis::max()), HasSubstr("can be held open for 1s to 365d"));
  EXPECT_THAT(order("", open, 1min), HasSubstr("the name of a circuit has 1 to 199 bytes"));
  EXPECT_THAT(order(std::string(200, 'x'), open, 1min), HasSubstr("1 to 199 bytes"));
  EXPECT_THAT(order("a\x1f", open, 1min), HasSubstr("without control characters"));
  EXPECT_THAT(order("gateway", open, 1min, std::string(171, 'x')), HasSubstr("171 characters; 170 are allowed"));
}

}  // namespace
}  // namespace easyretry::engine
