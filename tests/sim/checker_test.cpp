// Every invariant can break: a short journal that breaks it, next to the one that does not.

#include "sim/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

namespace easyretry::sim {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using Kind = task::Settlement::Kind;

constexpr TaskId kTask{1};

class CheckerTest : public ::testing::Test {
 protected:
  CheckerTest() {
    scenario.engine.lease = 10s;
    scenario.engine.window = 2s;
    scenario.engine.max_crashes = 2;
    plans["k"] = {};
  }

  void write(What what, int instance = 0) { journal.write(instance, std::move(what)); }
  TimePoint now() const { return clock.now(); }

  void stored(TaskId id = kTask, std::string handler = "plain", Millis due_in = 0ms) {
    write(Inserted{id, 1, now() + due_in, "k", std::move(handler), 5});
    write(Acked{id, "k"});
  }
  void claimed(std::int64_t version, int delivery, int instance = 0, int crashes = 0) {
    write(Claimed{kTask, version - 1, version, now() + 10s, delivery, crashes}, instance);
  }
  void begins(std::int64_t version, int counted, int instance = 0, Code code = Code::handler) {
    write(Began{kTask, version, code, counted}, instance);
  }
  void ends(std::int64_t version, Verdict verdict = Verdict::well, int instance = 0, Code code = Code::handler) {
    write(Ended{kTask, version, code, verdict}, instance);
  }
  void settled(std::int64_t version, Kind kind, Outcome outcome = Outcome::succeeded, Millis delay = 0ms) {
    write(Settled{kTask, version, kind, outcome, delay});
  }
  void kept(TaskId id, Outcome outcome, int deliveries) {
    task::TaskRecord record;
    record.info.id = id;
    record.info.state = TaskState::finished;
    record.info.outcome = outcome;
    record.info.deliveries = deliveries;
    history.push_back(std::move(record));
  }

  // Run once, with success.
  void run_once() {
    claimed(2, 1);
    begins(2, 1);
    ends(2);
    settled(2, Kind::finish);
    kept(kTask, Outcome::succeeded, 1);
  }

  std::vector<std::string> broken() {
    std::vector<std::string> names;
    for (const Violation& violation : check({scenario, plans, journal.entries(), live, history})) {
      names.push_back(violation.invariant);
    }
    return names;
  }

  testing::ManualClock clock;
  Journal journal{clock};
  Scenario scenario;
  std::map<std::string, Plan> plans;
  std::vector<task::TaskRecord> live, history;
};

TEST_F(CheckerTest, I13BreaksWhenATaskIsClaimedLongAfterItsHandlerWasPaused) {
  stored();
  write(HandlerPaused{"plain"}, -1);
  clock.advance(2600ms);
  run_once();
  EXPECT_THAT(broken(), Contains("I13"));
}

TEST_F(CheckerTest, I13HoldsInTheFirstMomentsAfterTheResumeAndForThoseWhoCouldNotAsk) {
  stored();
  write(HandlerPaused{"plain"}, -1);
  clock.advance(2s);
  claimed(2, 1);
  settled(2, Kind::hand_back);
  write(Hit{Fault::unavailable, "paused", now() + 1s}, 0);
  clock.advance(5s);
  claimed(4, 2);
  settled(4, Kind::hand_back);
  write(HandlerResumed{"plain"}, -1);
  claimed(6, 3, 1);
  begins(6, 1, 1);
  ends(6, Verdict::well, 1);
  settled(6, Kind::finish);
  kept(kTask, Outcome::succeeded, 3);
  EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(CheckerTest, AnOrdinaryLifeBreaksNothing) {
  stored();
  run_once();
  EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(CheckerTest, I1BreaksWhenAnAcknowledgedTaskIsGone) {
  stored();
  run_once();
  history.clear();
  EXPECT_THAT(broken(), Contains("I1"));
}

TEST_F(CheckerTest, I1BreaksWhenATaskIsNeverDone) {
  stored();
  live.emplace_back().info.id = kTask;
  EXPECT_THAT(broken(), Contains("I1"));
}

TEST_F(CheckerTest, I2BreaksWhenTwoRunUnderAValidLease) {
  stored();
  claimed(2, 1, 0);
  begins(2, 1, 0);
  clock.advance(9s);
  claimed(3, 2, 1);
  begins(3, 2, 1);
  EXPECT_THAT(broken(), Contains("I2"));
}

TEST_F(CheckerTest, I2HoldsWhenTheFirstHasOutlivedItsLease) {
  stored();
  claimed(2, 1, 0);
  begins(2, 1, 0);
  clock.advance(1s);
  write(RenewTried{kTask, 2});
  clock.advance(9s);
  claimed(3, 2, 1);
  begins(3, 2, 1);
  ends(3, Verdict::well, 1);
  settled(3, Kind::finish);
  kept(kTask, Outcome::succeeded, 2);
  EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(CheckerTest, I2BreaksWhenOneClaimIsRunTwice) {
  stored();
  claimed(2, 1);
  begins(2, 1);
  ends(2);
  begins(2, 1);
  EXPECT_THAT(broken(), Contains("I2"));
}

TEST_F(CheckerTest, I2BreaksWhenARunBeginsAfterItsLease) {
  stored();
  claimed(2, 1);
  clock.advance(10s);
  begins(2, 1);
  EXPECT_THAT(broken(), Contains("I2"));
}

TEST_F(CheckerTest, I2BreaksWhenNobodyTriesToKeepTheLease) {
  stored();
  claimed(2, 1, 0);
  begins(2, 1, 0);
  clock.advance(11s);
  claimed(3, 2, 1);
  EXPECT_THAT(broken(), Contains("I2"));
}

TEST_F(CheckerTest, I3BreaksWhenAnOldVersionMayClaim) {
  stored();
  claimed(2, 1);
  settled(2, Kind::retry);
  write(Claimed{kTask, 1, 4, now() + 10s, 2});
  EXPECT_THAT(broken(), Contains("I3"));
}

TEST_F(CheckerTest, I3BreaksWhenALateFinisherIsHeard) {
  stored();
  claimed(2, 1, 0);
  clock.advance(11s);
  claimed(3, 2, 1);
  settled(2, Kind::retry);
  EXPECT_THAT(broken(), Contains("I3"));
}

TEST_F(CheckerTest, I4BreaksWhenATaskChangesAfterItsEnd) {
  stored();
  run_once();
  claimed(4, 2);
  EXPECT_THAT(broken(), Contains("I4"));
}

TEST_F(CheckerTest, I4BreaksWhenNobodySucceededAndItSaysSo) {
  stored();
  claimed(2, 1);
  begins(2, 1);
  ends(2, Verdict::failed);
  settled(2, Kind::finish, Outcome::succeeded);
  EXPECT_THAT(broken(), Contains("I4"));
}

TEST_F(CheckerTest, I5BreaksWhenARunIsNotCountedBefore) {
  stored();
  claimed(2, 1);
  begins(2, 0);
  EXPECT_THAT(broken(), Contains("I5"));
}

TEST_F(CheckerTest, I5BreaksWhenThereAreMoreRunsThanAllowed) {
  stored();
  for (int run = 1; run <= 6; ++run) {
    claimed(2 * run, run);
    begins(2 * run, run);
    ends(2 * run, Verdict::failed);
    settled(2 * run, Kind::retry);
  }
  EXPECT_THAT(broken(), Contains("I5"));
}

TEST_F(CheckerTest, I5BreaksWhenADeliveryIsNotCounted) {
  stored();
  claimed(2, 0);
  EXPECT_THAT(broken(), Contains("I5"));
}

TEST_F(CheckerTest, I5BreaksWhenAClaimIsForgottenByItsWinner) {
  stored();
  claimed(2, 1, 0);
  clock.advance(11s);
  claimed(3, 2, 1);
  EXPECT_THAT(broken(), Contains("I5"));
}

TEST_F(CheckerTest, I6BreaksWhenNobodyIsTold) {
  stored(kTask, "told");
  run_once();
  EXPECT_THAT(broken(), Contains("I6"));
}

TEST_F(CheckerTest, I6BreaksWhenItIsCalledASuccessAndAFailure) {
  stored(kTask, "told");
  claimed(2, 1);
  begins(2, 1);
  ends(2);
  for (const Code code : {Code::on_success, Code::on_final_failure}) {
    begins(2, 0, 0, code);
    ends(2, Verdict::well, 0, code);
  }
  settled(2, Kind::finish);
  kept(kTask, Outcome::succeeded, 1);
  EXPECT_THAT(broken(), Contains("I6"));
}

TEST_F(CheckerTest, I7BreaksWhenHistoryHasATaskTwice) {
  stored();
  run_once();
  history.push_back(history.front());
  EXPECT_THAT(broken(), Contains("I7"));
}

TEST_F(CheckerTest, I7BreaksWhenATaskIsInHistoryAndStillToBeDone) {
  stored();
  run_once();
  live.push_back(history.front());
  EXPECT_THAT(broken(), Contains("I7"));
}

TEST_F(CheckerTest, I8BreaksWhenATaskRunsBeforeItIsDue) {
  stored(kTask, "plain", 1ms);
  run_once();
  EXPECT_THAT(broken(), Contains("I8"));
}

TEST_F(CheckerTest, I9BreaksWhenADeadInstancesTaskWaitsTooLong) {
  stored();
  claimed(2, 1, 0);
  write(Died{Death::crashed}, 0);
  write(Calm{}, -1);
  clock.advance(10s + 2s + 5s + 1ms);
  claimed(3, 2, 1);
  EXPECT_THAT(broken(), Contains("I9"));
}

TEST_F(CheckerTest, I10BreaksWhenAShardHasTwoOwners) {
  write(Wrong{"I10", "shard 3 of work has 2 owners"});
  EXPECT_THAT(broken(), Contains("I10"));
}

TEST_F(CheckerTest, I11BreaksWhenMoreIsHeldThanAllowed) {
  write(Wrong{"I11", "too many"});
  EXPECT_THAT(broken(), Contains("I11"));
}

TEST_F(CheckerTest, I12BreaksWhenPoisonIsRunTooOften) {
  plans["k"].kind = Plan::Kind::poison;
  stored();
  for (int run = 1; run <= 3; ++run) {
    claimed(1 + run, run, 0, run - 1);
    begins(1 + run, run);
    write(Died{Death::crashed});
    clock.advance(10s);
  }
  EXPECT_THAT(broken(), Contains("I12"));
}

TEST_F(CheckerTest, I15BreaksWhenATaskThatKilledNobodyIsQuarantined) {
  stored();
  claimed(2, 1);
  settled(2, Kind::finish, Outcome::quarantined);
  kept(kTask, Outcome::quarantined, 1);
  EXPECT_THAT(broken(), Contains("I15"));
}

TEST_F(CheckerTest, I15BreaksWhenATaskIsBlamedForCrashesInWhichItWaited) {
  stored();
  for (int death = 1; death <= 2; ++death) {
    claimed(1 + death, death, 0, death - 1);
    clock.advance(5s);
    write(Died{Death::crashed});
    clock.advance(5s);
  }
  claimed(4, 3, 0, 2);
  settled(4, Kind::finish, Outcome::quarantined);
  kept(kTask, Outcome::quarantined, 3);
  EXPECT_THAT(broken(), Contains("I15"));
}

TEST_F(CheckerTest, I16BreaksWhenACancelledTaskBegins) {
  stored();
  claimed(2, 1);
  write(EndedByUser{{.id = kTask}}, 1);
  write(EndAnswered{kTask}, 1);
  clock.advance(1ms);
  begins(2, 1);
  EXPECT_THAT(broken(), Contains("I16"));
}

TEST_F(CheckerTest, I17BreaksWhenMoreTasksOfALimitedHandlerRunThanMay) {
  for (std::int64_t number = 1; number <= 3; ++number) {
    plans[std::to_string(number)] = {};
    write(Inserted{TaskId{number}, 1, now(), std::to_string(number), "limited", 5});
    write(Claimed{TaskId{number}, 1, 2, now() + 10s, 1, 0}, static_cast<int>(number));
  }
  const auto begins_too = [&](std::int64_t number) {
    write(Began{TaskId{number}, 2, Code::handler, 1}, static_cast<int>(number));
  };
  begins_too(1);
  begins_too(2);
  EXPECT_THAT(broken(), Not(Contains("I17")));
  begins_too(3);
  EXPECT_THAT(broken(), Contains("I17"));
}

TEST_F(CheckerTest, I17HoldsWhenTheLeaseOfOneThatStillRunsIsOver) {
  for (std::int64_t number = 1; number <= 3; ++number) {
    plans[std::to_string(number)] = {};
    write(Inserted{TaskId{number}, 1, now(), std::to_string(number), "limited", 5});
    write(Claimed{TaskId{number}, 1, 2, now() + (number == 1 ? 1s : 10s), 1, 0}, static_cast<int>(number));
    write(Began{TaskId{number}, 2, Code::handler, 1}, static_cast<int>(number));
    clock.advance(1s);
  }
  EXPECT_THAT(broken(), Not(Contains("I17")));
}

TEST_F(CheckerTest, I14BreaksWhenAKeyIsLiveTwice) {
  stored(kTask);
  stored(TaskId{2});
  EXPECT_THAT(broken(), Contains("I14"));
}

}  // namespace
}  // namespace easyretry::sim
