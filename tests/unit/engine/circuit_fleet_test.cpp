// Several instances that share a circuit by reports, on virtual time.

#include <memory>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/circuit_watch.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

constexpr Millis kFleetTick{50};

// Instances that call one downstream, each as often as its circuit allows and at most `rate` times a second, and
// exchange their reports as text every second.
class Fleet {
 public:
  explicit Fleet(int size, double rate = 300) : per_second_(rate) {
    for (int i = 0; i < size; ++i) join();
  }

  Circuit& join() {
    instances_.push_back(std::make_unique<Instance>());
    exchange();
    return instances_.back()->circuit;
  }
  void kill(std::size_t index) { instances_[index]->alive = false; }
  void cut_off(std::size_t index, bool cut = true) { instances_[index]->cut_off = cut; }
  void want(std::size_t index, bool wants) { instances_[index]->wants = wants; }

  // The calls of each instance.
  std::vector<std::uint64_t> call_for(Millis time, bool answered) {
    std::vector<std::uint64_t> calls(instances_.size());
    for (const Instant end = now + time; now < end; now += kFleetTick) {
      if ((now - Instant{}) % 1s == 0s) exchange();
      for (std::size_t i = 0; i < instances_.size(); ++i) {
        Instance& one = *instances_[i];
        if (!one.alive || !one.wants) continue;
        one.wanted = std::min(one.wanted + per_second_ * 0.05, std::max(1.0, per_second_ * 0.1));
        const std::size_t granted = one.circuit.reserve(now, static_cast<std::size_t>(one.wanted));
        one.wanted -= static_cast<double>(granted);
        for (std::size_t n = 0; n < granted; ++n) one.circuit.record(now, answered);
        calls[i] += granted;
      }
    }
    return calls;
  }
  std::uint64_t calls_in(Millis time, bool answered) {
    const auto calls = call_for(time, answered);
    return std::accumulate(calls.begin(), calls.end(), std::uint64_t{0});
  }
  Circuit& circuit(std::size_t index) { return instances_[index]->circuit; }
  CircuitState state(std::size_t index) { return instances_[index]->circuit.view(now).state; }

  Instant now = Instant{} + 1h;

 private:
  struct Instance {
    Circuit circuit{CircuitOptions{}};
    bool alive = true;
    bool wants = true;
    bool cut_off = false;
    double wanted = 0;
    std::string told{};  // its last report; stays when it dies
  };

  void exchange() {
    const StoreTime time{TimePoint{Millis{1'700'000'000'000}}, Instant{} + 1h};
    for (const auto& one : instances_) {
      if (!one->alive || one->cut_off) continue;
      if (const auto report = one->circuit.report(now)) {
        one->told = report_texts({{"gateway", *report}}, time, 4000).at(0);
      }
    }
    for (const auto& one : instances_) {
      if (!one->alive || one->cut_off) continue;
      std::vector<CircuitReport> others;
      for (const auto& other : instances_) {
        if (other == one || other->told.empty()) continue;
        others.push_back(parse_reports(other->told, time).at("gateway"));
      }
      one->circuit.learn(now, others);
    }
  }

  double per_second_;
  std::vector<std::unique_ptr<Instance>> instances_;
};

TEST(CircuitFleet, SharesTheProbesOfAnOutage) {
  Fleet fleet{3};
  fleet.call_for(1min, true);
  EXPECT_LE(fleet.calls_in(10s, false), 3 * 900U) << "three seconds of the rate";
  const std::uint64_t calls = fleet.calls_in(10min, false);
  EXPECT_GE(calls, 570U);
  EXPECT_LE(calls, 610U);
}

TEST(CircuitFleet, IsBackAtNineTenthsOfTheRateTwoMinutesAfterAnOutageAndCloses) {
  Fleet fleet{3};
  fleet.call_for(1min, true);
  fleet.call_for(10min, false);
  fleet.call_for(110s, true);
  EXPECT_GE(fleet.calls_in(10s, true), 8'100U);
  fleet.call_for(1min, true);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(fleet.state(i), CircuitState::closed) << i;
}

TEST(CircuitFleet, OpensOnAllWhenEachAloneHasSeenTooLittle) {
  Fleet fleet{5, 1.2};  // six attempts in five seconds each: too few for one instance to judge, together enough
  fleet.call_for(15s, false);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(fleet.state(i), CircuitState::open) << i;
}

TEST(CircuitFleet, AnInstanceThatJoinsInAnOutageKnowsOfIt) {
  Fleet fleet{2};
  fleet.call_for(1min, false);
  fleet.join();
  EXPECT_EQ(fleet.state(2), CircuitState::open);
  const auto calls = fleet.call_for(1min, false);
  EXPECT_LE(calls[2], 30U);
}

TEST(CircuitFleet, TheOthersTakeOverTheProbesOfOneThatDied) {
  Fleet fleet{3};
  fleet.call_for(1min, false);
  fleet.kill(0);
  fleet.call_for(5s, false);
  EXPECT_NEAR(static_cast<double>(fleet.calls_in(1min, false)), 60, 4);
}

TEST(CircuitFleet, OneThatHasNothingToStartLeavesTheProbesToTheOthers) {
  Fleet fleet{3};
  fleet.call_for(1min, false);
  fleet.want(0, false);
  fleet.want(1, false);
  fleet.call_for(5s, false);
  EXPECT_NEAR(static_cast<double>(fleet.calls_in(1min, false)), 60, 4);
}

TEST(CircuitFleet, OneThatIsCutOffFromTheStoreJudgesByItself) {
  Fleet fleet{2};
  fleet.call_for(1min, false);
  fleet.cut_off(0);
  const auto calls = fleet.call_for(2min, false);
  EXPECT_GE(calls[0], 50U) << "it still probes";
  EXPECT_LE(calls[0], 70U);
  fleet.cut_off(0, false);
  fleet.call_for(3min, true);
  EXPECT_EQ(fleet.state(0), CircuitState::closed);
  EXPECT_EQ(fleet.state(1), CircuitState::closed);
}

TEST(CircuitFleet, ARestThatOneWasAskedForIsKeptByAll) {
  Fleet fleet{2};
  fleet.call_for(1min, true);
  fleet.circuit(0).rest(fleet.now, 5min);
  fleet.call_for(3s, true);
  EXPECT_NEAR(static_cast<double>(fleet.calls_in(1min, true)), 60, 4) << "probes, although they are answered";
  fleet.call_for(6min, true);
  EXPECT_EQ(fleet.state(1), CircuitState::closed);
}

TEST(CircuitReports, ThatCannotBeReadAreLeftOut) {
  const StoreTime time{TimePoint{}, Instant{}};
  const auto read = [&](std::vector<std::string> fields) {
    std::string text = "gateway";
    for (const std::string& field : fields) text += '\x1f' + field;
    return parse_reports(text, time).size();
  };
  EXPECT_TRUE(parse_reports("", time).empty());
  EXPECT_EQ(read({}), 0U);
  EXPECT_EQ(read({"1", "2", "three", "4", "5"}), 0U);
  EXPECT_EQ(read({"1", "-2", "3", "4", "5"}), 0U);
  EXPECT_EQ(read({"1", "2", "3", "4", "5", "6"}), 0U) << "answered without failed";
  EXPECT_EQ(read({"1", "2", "3", "4", "5"}), 1U);
  EXPECT_EQ(read({"1", "2", "3", "4", "5", "6", "7"}), 1U);
}

TEST(CircuitReports, AreSplitIntoTextsOfALimitedLength) {
  const StoreTime time{TimePoint{Millis{1'700'000'000'000}}, Instant{} + 1h};
  NamedReports reports;
  for (int i = 0; i < 200; ++i) {
    reports["circuit " + std::to_string(i)] = {Instant{} + 1h, CircuitState::open,
                                               Instant{} + 1h, Instant{} + 1h,
                                               Instant{} + 1h, std::vector<AnswerSums>(10, {1000, 1000})};
  }
  NamedReports read;
  for (const std::string& text : report_texts(reports, time, 4000)) {
    EXPECT_LE(text.size(), 4000U);
    read.merge(parse_reports(text, time));
  }
  EXPECT_EQ(read.size(), 200U);
}

}  // namespace
}  // namespace easyretry::engine
