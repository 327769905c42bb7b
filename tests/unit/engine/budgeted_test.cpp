// An instance whose handler has a budget for retries, on virtual time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

class Budgeted : public ::testing::Test {
 protected:
  Budgeted() { handle(instance, options(0.2)); }

  // It stays closed, however many attempts fail.
  static HandlerOptions options(std::optional<double> share, double probes = 1) {
    HandlerOptions options;
    options.circuit = CircuitOptions{.name = "gateway", .least = 1'000'000, .probes = probes, .retries_at_most = share};
    return options;
  }
  static Policy patient() { return {.backoff = Fixed{1s}, .stop = {.max_attempts = 0}}; }
  void handle(VirtualInstance& one, const HandlerOptions& with) {
    one.handle(
        "pay",
        [this] {
          ++(current_task()->info.attempts > 1 ? retries : firsts);
          if (down) throw std::runtime_error("gateway is busy");
          ++answered;
        },
        patient(), with);
  }

  void reconfigure(const HandlerOptions& with) { instance.core.reconfigure({{"pay", {patient(), with}}}, {}); }

  static bool work_a_little(Core& core) {
    bool worked = core.loader().step().worked;
    worked |= core.pause_watch().step().worked;
    worked |= core.circuit_watch().step().worked;
    worked |= core.claimers()[0].step().worked;
    worked |= static_cast<InlineWorkers&>(core.workers()).step();
    worked |= core.settler().step().worked;
    return worked;
  }
  static void work(VirtualInstance& one) {
    while (work_a_little(one.core)) {
    }
  }
  void work() { work(instance); }
  void submit(int count) {
    for (int i = 0; i < count; ++i) instance.submit("pay", std::to_string(keys_++));
  }
  void work_for(Millis time, int new_tasks_a_second = 0) {
    for (Millis passed{0}; passed < time; passed += 100ms) {
      shared.clock.advance(100ms);
      submit(new_tasks_a_second / 10);
      work();
    }
  }
  CircuitInfo gateway() { return instance.core.circuits().at(0); }

  SharedStore shared;
  VirtualInstance instance{shared};
  bool down = true;
  int firsts = 0;
  int retries = 0;
  int answered = 0;

 private:
  int keys_ = 0;
};

TEST_F(Budgeted, OfTheAttemptsThatStartRetriesAreAtMostTheirShareAndTheProbes) {
  work_for(1min, 100);
  EXPECT_EQ(firsts, 6'000) << "retries never stand in front of new tasks";
  EXPECT_NEAR(retries, 6'000 / 4 + 60, 20);
}

TEST_F(Budgeted, RetriesThatWaitSayHowManyTheyAreAndSinceWhen) {
  EXPECT_EQ(gateway().retries_at_most, 0.2);
  EXPECT_FALSE(gateway().retries_held_since);
  submit(100);
  work();
  EXPECT_EQ(gateway().held_retries, 0U) << "they are not due yet";
  work_for(1s);
  const TimePoint due = shared.clock.now();
  EXPECT_EQ(gateway().retries_held_since, due);
  EXPECT_EQ(gateway().held_retries, 100U - 26);
  work_for(2s);
  EXPECT_EQ(gateway().retries_held_since, due);
}

TEST_F(Budgeted, EveryTaskIsTriedAgainInTheEndWithoutAnyNewOnes) {
  submit(200);
  work();
  down = false;
  work_for(1min);
  EXPECT_LT(answered, 150);
  work_for(2min);
  EXPECT_EQ(answered, 200);
  EXPECT_FALSE(gateway().retries_held_since);
}

TEST_F(Budgeted, AnOrderToIgnoreTheCircuitLetsAllRetriesStart) {
  submit(200);
  work();
  down = false;
  work_for(2s);
  ASSERT_TRUE(instance.core.order_circuit("gateway", CircuitState::closed, 1h, "drain it"));
  work_for(2s);
  EXPECT_EQ(answered, 200);
  EXPECT_FALSE(gateway().retries_held_since);
}

TEST_F(Budgeted, ABudgetThatIsNewHoldsBackWhatIsInMemoryAlready) {
  reconfigure(options(std::nullopt));
  submit(200);
  work();
  HandlerOptions stopped = options(std::nullopt);
  stopped.limit = LimitOptions{.running = 0};
  reconfigure(stopped);
  work_for(5s);
  reconfigure(options(0, 0.01));
  EXPECT_EQ(retries, 0);
  work_for(5s);
  EXPECT_LE(retries, 1);
  reconfigure(options(std::nullopt));
  work_for(1s);
  EXPECT_GE(retries, 200);
}

// An instance that dies is no reason to wait, and its tasks are few.
TEST_F(Budgeted, ATaskWhoseWorkerDiedIsNotHeldBackAndCounts) {
  SharedStore another;
  auto victim = std::make_unique<VirtualInstance>(another);
  handle(*victim, options(0, 0.01));
  victim->submit("pay", "a");
  victim->core.circuit_watch().step();
  victim->claim();
  victim.reset();
  another.clock.advance(1min);

  VirtualInstance survivor{another};
  handle(survivor, options(0, 0.01));
  Circuit& circuit = *survivor.core.circuit("gateway");
  circuit.retries().spend(another.clock.steady(), 1);
  ASSERT_EQ(circuit.retries().room(another.clock.steady(), 1), 0U);
  survivor.core.loader().hurry();
  work(survivor);
  EXPECT_EQ(firsts + retries, 1);
}

TEST_F(Budgeted, AHandlerOfTheSameCircuitSharesTheBudget) {
  instance.handle(
      "refund", [] { throw std::runtime_error("gateway is busy"); }, patient(), options(0.2));
  for (int i = 0; i < 100; ++i) instance.submit("refund", "refund " + std::to_string(i));
  submit(100);
  work();
  work_for(1s);
  EXPECT_EQ(gateway().held_retries, 200U - 51);
}

TEST_F(Budgeted, WithoutABudgetEveryRetryStartsInTime) {
  reconfigure(options(std::nullopt));
  submit(100);
  work();
  work_for(10s);
  EXPECT_EQ(retries, 1'000);
  EXPECT_FALSE(gateway().retries_at_most);
}

}  // namespace
}  // namespace easyretry::engine
