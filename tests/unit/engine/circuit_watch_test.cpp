// Circuits of instances that share a store, on virtual time.

#include "unit/engine/guarded_pair.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

using CircuitWatchTest = GuardedPairTest;

TEST_F(CircuitWatchTest, AnInstanceThatMadeNoAttemptHearsOfAnOutageBeforeItsFirst) {
  submit(instance, 100);
  work_for(5s, {&instance});
  ASSERT_EQ(state(instance), CircuitState::open);
  calls = 0;
  other.core.loader().hurry();
  work(other);
  EXPECT_EQ(state(other), CircuitState::open);
  EXPECT_LE(calls, 1) << "a probe at most";
}

TEST_F(CircuitWatchTest, InstancesShareTheProbes) {
  submit(instance, 200);
  work_for(5s, {&instance, &other});
  calls = 0;
  work_for(1min, {&instance, &other});
  EXPECT_NEAR(calls, 60, 5);
}

TEST_F(CircuitWatchTest, ExchangesOncePerSecondWhileThereIsSomethingToTell) {
  down = false;
  for (int second = 0; second < 60; ++second) {
    submit(instance, 10);
    work_for(1s, {&instance});
  }
  EXPECT_LE(store->exchanges, 62);
  EXPECT_GE(store->exchanges, 55);
}

TEST_F(CircuitWatchTest, AnIdleInstanceSaysAndAsksNothing) {
  down = false;
  submit(instance, 10);
  work_for(1min, {&instance});
  store->exchanges = 0;
  work_for(10min, {&instance, &other});
  EXPECT_EQ(store->exchanges, 0);
}

TEST_F(CircuitWatchTest, TheFirstStartAfterAQuietTimeWaitsForOneAnswerOnly) {
  down = false;
  submit(instance, 1);
  work(instance);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(store->exchanges, 1);
}

TEST_F(CircuitWatchTest, AStoreThatStopsAnsweringDoesNotStopTheWork) {
  down = false;
  submit(instance, 1);
  work(instance);
  store->answers = false;
  for (int i = 0; i < 30; ++i) {
    submit(instance, 1);
    work_for(1s, {&instance});
  }
  EXPECT_EQ(calls, 31);
}

TEST_F(CircuitWatchTest, TasksThatWereClaimedAheadAreHandedBackWhenItOpens) {
  submit(instance, 100);
  instance.claim();
  instance.core.circuit_watch().step();
  instance.claim();
  ASSERT_GT(instance.core.workers().waiting(), 0U);
  Circuit& circuit = *instance.core.handlers().snapshot()->circuits.at("gateway");
  for (int i = 0; i < 100; ++i) circuit.record(shared.clock.steady(), false);
  shared.clock.advance(1s);
  instance.core.circuit_watch().step();
  EXPECT_EQ(instance.core.workers().waiting(), 0U);
  instance.settle();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(instance.core.stats().handed_back, 100U);
}

}  // namespace
}  // namespace easyretry::engine
