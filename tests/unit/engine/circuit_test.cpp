// The model of a circuit alone, on virtual time, with a downstream that is up, down, or answers a share of the calls.

#include "engine/circuit.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refusal.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr Millis kTick{50};

// Calls a downstream as often as the circuit allows, but at most `rate` times a second. Calls are answered at once.
class Caller {
 public:
  explicit Caller(CircuitOptions options = {}, double rate = 1000) : circuit(std::move(options)), per_second_(rate) {}

  // `answered`: the share of calls that are answered.
  std::uint64_t call_for(Millis time, double answered) {
    std::uint64_t calls = 0;
    for (const Instant end = now + time; now < end; now += kTick) {
      wanted_ = std::min(wanted_ + per_second_ * 0.05, per_second_ * 0.1);
      const std::size_t granted = circuit.reserve(now, static_cast<std::size_t>(wanted_));
      wanted_ -= static_cast<double>(granted);
      for (std::size_t i = 0; i < granted; ++i) circuit.record(now, share_(random_) < answered);
      calls += granted;
      if (circuit.take_change(now)) ++changes;
    }
    return calls;
  }
  CircuitState state() { return circuit.view(now).state; }

  Circuit circuit;
  Instant now = Instant{} + 1h;
  int changes = 0;

 private:
  double per_second_;
  double wanted_ = 0;
  std::mt19937 random_{7};  // NOLINT(bugprone-random-generator-seed): the same calls each time
  std::uniform_real_distribution<double> share_{0, 1};
};

TEST(Circuit, HoldsNothingBackWhileCallsAreAnswered) {
  Caller caller;
  EXPECT_GE(caller.call_for(60s, 1), 59'900U);
  EXPECT_EQ(caller.changes, 0);
  EXPECT_EQ(caller.circuit.next_start(caller.now), Instant::max());
}

TEST(Circuit, OpensWhenMoreThanItsShareOfAWindowFailed) {
  Circuit circuit{{.trip_at = 0.5, .least = 20}};
  const Instant now = Instant{} + 1h;
  for (int i = 0; i < 10; ++i) circuit.record(now, true);
  for (int i = 0; i < 10; ++i) circuit.record(now, false);
  EXPECT_EQ(circuit.view(now).state, CircuitState::closed) << "half of them is not more than half";
  circuit.record(now, false);
  EXPECT_EQ(circuit.view(now).state, CircuitState::open);
  EXPECT_EQ(circuit.view(now).since, now);
}

TEST(Circuit, StaysClosedWhileThereAreTooFewAttemptsToJudge) {
  Circuit circuit{{.least = 20}};
  Instant now = Instant{} + 1h;
  for (int i = 0; i < 100; ++i, now += 1s) circuit.record(now, false);
  EXPECT_EQ(circuit.view(now).state, CircuitState::closed) << "ten in each window";
}

TEST(Circuit, SeesASuddenOutageWithinTwoSecondsOfALongGoodTime) {
  Caller caller;
  caller.call_for(10min, 1);
  EXPECT_LE(caller.call_for(10s, 0), 2'000U + 10);
  EXPECT_EQ(caller.state(), CircuitState::open);
}

TEST(Circuit, AnOutageOfTenMinutesCostsTwoSecondsOfTheRateAndTheProbes) {
  Caller caller{{.probes = 1}};
  caller.call_for(1min, 1);
  const std::uint64_t calls = caller.call_for(10min, 0);
  EXPECT_LE(calls, 2'000U + 600);
  EXPECT_GE(calls, 590U) << "it never stops probing";
  EXPECT_EQ(caller.changes, 1);
}

TEST(Circuit, IsBackAtNineTenthsOfTheRateTwoMinutesAfterAnOutage) {
  for (const double rate : {100.0, 1'000.0, 10'000.0}) {
    Caller caller{{}, rate};
    caller.call_for(1min, 1);
    caller.call_for(10min, 0);
    caller.call_for(110s, 1);
    EXPECT_GE(static_cast<double>(caller.call_for(10s, 1)), 10 * 0.9 * rate) << rate;
  }
}

TEST(Circuit, ClosesOnceItHasHeldNothingBackForAWindow) {
  Caller caller;
  caller.call_for(1min, 1);
  caller.call_for(1min, 0);
  caller.call_for(3min, 1);
  EXPECT_EQ(caller.state(), CircuitState::closed);
  EXPECT_EQ(caller.changes, 2);
}

TEST(Circuit, DoesNotLetABacklogThroughAtOnceWhenTheFirstProbeIsAnswered) {
  Caller caller;
  caller.call_for(1min, 1);
  caller.call_for(1min, 0);
  std::uint64_t before = 1;
  for (int second = 0; second < 20; ++second) {
    const std::uint64_t calls = caller.call_for(1s, 1);
    EXPECT_LE(calls, 3 + 2 * before) << "in second " << second;
    before = std::max(before, calls);
  }
}

TEST(Circuit, DoesNotOscillateWhileAboutHalfOfTheCallsFail) {
  for (const double answered : {0.55, 0.5, 0.45}) {
    Caller caller;
    caller.call_for(30min, answered);
    EXPECT_LE(caller.changes, 2) << answered;
  }
}

TEST(Circuit, StaysOpenWhileThereIsNothingToCallAndTheNextCallIsAProbe) {
  Caller caller;
  caller.call_for(1min, 0);
  caller.now += 1h;
  EXPECT_EQ(caller.state(), CircuitState::open) << "no call was answered meanwhile";
  EXPECT_EQ(caller.circuit.reserve(caller.now, 100), 1U);
}

TEST(Circuit, ClosesAlsoIfThereIsNothingMoreToCallAfterTheBacklog) {
  Caller caller;
  caller.call_for(1min, 0);
  caller.call_for(30s, 1);
  caller.now += 11s;
  EXPECT_EQ(caller.state(), CircuitState::closed);
}

TEST(Circuit, SaysWhenTheNextCallMayStart) {
  Caller caller{{.probes = 0.5}};
  caller.call_for(1min, 0);
  caller.circuit.reserve(caller.now, 100);
  const Instant next = caller.circuit.next_start(caller.now);
  EXPECT_LE(next, caller.now + 2s);
  EXPECT_TRUE(caller.circuit.has_room(next));
  EXPECT_FALSE(caller.circuit.has_room(caller.now + 1ms));
}

TEST(Circuit, FollowsNewOptions) {
  Caller caller{{.probes = 1}};
  caller.call_for(1min, 0);
  caller.circuit.set({.probes = 10});
  EXPECT_NEAR(static_cast<double>(caller.call_for(1min, 0)), 600, 15);
}

TEST(CircuitOptions, AreRefusedWithTheFieldAndItsRange) {
  const auto refused = [](const CircuitOptions& options) { return test::refusal([&] { validate(options); }); };
  EXPECT_THAT(refused({.trip_at = 1.5}), HasSubstr("circuit.trip_at = 1.5"));
  EXPECT_THAT(refused({.trip_at = 0}), HasSubstr("above 0 and up to 1"));
  EXPECT_THAT(refused({.trip_at = std::nan("")}), HasSubstr("trip_at"));
  EXPECT_THAT(refused({.window = 999ms}), HasSubstr("use 1s to 60s"));
  EXPECT_THAT(refused({.window = 61s}), HasSubstr("circuit.window = 61s"));
  EXPECT_THAT(refused({.least = 0}), HasSubstr("circuit.least = 0"));
  EXPECT_THAT(refused({.probes = 0}), HasSubstr("0.01 to 1000 per second"));
  EXPECT_THAT(refused({.name = std::string(10'000'000, 'x')}), HasSubstr("at most 200 bytes"));
  EXPECT_THAT(refused({.retries_at_most = 1}), HasSubstr("circuit.retries_at_most = 1"));
  EXPECT_THAT(refused({.retries_at_most = -0.1}), HasSubstr("from 0 to below 1, such as 0.2"));
  EXPECT_THAT(refused({.retries_at_most = std::nan("")}), HasSubstr("retries_at_most"));
  EXPECT_THAT(refused({.trip_at = 1, .retries_at_most = 0.2}), HasSubstr("a circuit that is off"));
  EXPECT_NO_THROW(validate(CircuitOptions{.retries_at_most = 0}));
  EXPECT_NO_THROW(validate(CircuitOptions{}));
}

}  // namespace
}  // namespace easyretry::engine
