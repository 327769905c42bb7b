#include "task/transitions.h"

#include <array>
#include <chrono>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace easyretry::task {
namespace {

using namespace std::chrono_literals;
using Kind = Settlement::Kind;

constexpr std::array kStates{TaskState::pending, TaskState::running, TaskState::finished};
constexpr std::array kEvents{Event::claim,  Event::claim_expired, Event::claim_suspect, Event::renew,
                             Event::retry,  Event::advance,       Event::hand_back,     Event::finish,
                             Event::revise, Event::end,           Event::end_and_tell,  Event::requeue};
constexpr TimePoint kNow{std::chrono::sys_days{std::chrono::year{2026} / 3 / 10}};

NewTask a_new_task() {
  NewTask task;
  task.name_space = "shop";
  task.key = "pay:42";
  task.handler = "pay";
  task.payload = "[42]";
  return task;
}

TaskRecord pending() {
  return new_record(a_new_task(), TaskId{1}, kNow);
}

TaskRecord running(Stage stage = Stage::run) {
  TaskRecord record = pending();
  record.info.stage = stage;
  apply_claim(record, Event::claim, "worker", kNow, 30s);
  return record;
}

Ticket ticket(const TaskRecord& record) {
  return {record.info.id, record.info.version};
}

Settlement settlement(const TaskRecord& record, Kind kind) {
  Settlement made;
  made.ticket = ticket(record);
  made.kind = kind;
  return made;
}

TEST(TransitionTable, HasOneRowForAStateAndAnEvent) {
  std::set<std::pair<TaskState, Event>> seen;
  for (const Transition& row : transitions()) {
    EXPECT_TRUE(seen.insert({row.from, row.event}).second) << to_string(row.from) << " + " << to_string(row.event);
  }
}

TEST(TransitionTable, AgreesWithTheFunctionTransition) {
  std::size_t answered = 0;
  for (const TaskState state : kStates) {
    for (const Event event : kEvents) {
      const auto row = transition(state, event);
      if (!row) continue;
      EXPECT_EQ(row->from, state);
      EXPECT_EQ(row->event, event);
      ++answered;
    }
  }
  EXPECT_EQ(answered, transitions().size());
}

TEST(TransitionTable, KnowsEveryEvent) {
  for (const Event event : kEvents) {
    bool used = false;
    for (const Transition& row : transitions()) used = used || row.event == event;
    EXPECT_TRUE(used) << to_string(event);
    EXPECT_NE(to_string(event), "unknown");
  }
}

TEST(TransitionTable, LeavesHistoryOnlyByRequeue) {
  for (const Event event : kEvents) {
    EXPECT_EQ(transition(TaskState::finished, event).has_value(), event == Event::requeue) << to_string(event);
  }
}

TEST(TransitionTable, SettlesOnlyRunningTasks) {
  for (const Event event : {Event::renew, Event::retry, Event::advance, Event::hand_back, Event::finish}) {
    EXPECT_FALSE(transition(TaskState::pending, event)) << to_string(event);
  }
}

TEST(TransitionTable, CancelsFromEveryLiveState) {
  for (const TaskState state : {TaskState::pending, TaskState::running}) {
    EXPECT_EQ(transition(state, Event::end)->to, TaskState::finished);
    EXPECT_EQ(transition(state, Event::end_and_tell)->to, TaskState::pending);
  }
}

TEST(TransitionTable, KeepsTheVersionOnlyOnRenewal) {
  for (const Transition& row : transitions()) EXPECT_EQ(row.new_version, row.event != Event::renew);
}

TEST(TransitionTable, CountsWhatAClaimTakesAndAHandBackReturns) {
  EXPECT_EQ(transition(TaskState::pending, Event::claim)->attempts, 1);
  EXPECT_EQ(transition(TaskState::running, Event::hand_back)->attempts, -1);
  int crashes = 0;
  for (const Transition& row : transitions()) crashes += row.crashes;
  EXPECT_EQ(crashes, transition(TaskState::running, Event::claim_expired)->crashes);
}

TEST(ClaimEvent, NeedsTheVersionSeen) {
  const TaskRecord record = pending();
  EXPECT_EQ(claim_event(record, ticket(record), kNow), Event::claim);
  EXPECT_FALSE(claim_event(record, {record.info.id, record.info.version - 1}, kNow));
  EXPECT_FALSE(claim_event(record, {record.info.id, record.info.version + 1}, kNow));
}

TEST(ClaimEvent, NeedsADueTask) {
  TaskRecord record = pending();
  record.info.next_at = kNow + 1ms;
  EXPECT_FALSE(claim_event(record, ticket(record), kNow));
  EXPECT_EQ(claim_event(record, ticket(record), kNow + 1ms), Event::claim);
}

TEST(ClaimEvent, TakesARunningTaskOnlyWhenItsLeaseIsOver) {
  const TaskRecord record = running();
  EXPECT_FALSE(claim_event(record, ticket(record), record.lease_until - 1ms));
  EXPECT_EQ(claim_event(record, ticket(record), record.lease_until), Event::claim_expired);
}

TEST(ClaimEvent, SuspectsATaskWhoseWorkerMayNotHaveBegun) {
  TaskRecord record = pending();
  apply_claim(record, Event::claim, "worker", kNow, 30s, false);
  EXPECT_EQ(claim_event(record, ticket(record), record.lease_until), Event::claim_suspect);
}

TEST(Suspicion, IsOneMoreThanTheCrashesAfterTheNextClaim) {
  EXPECT_EQ(suspicion(pending()), 0);
  TaskRecord waited = pending();
  apply_claim(waited, Event::claim, "worker", kNow, 30s, false);
  EXPECT_EQ(suspicion(waited), 1) << "suspected, and nothing is proven";
  TaskRecord begun = running();
  EXPECT_EQ(suspicion(begun), 2);
  apply_claim(begun, Event::claim_expired, "rescuer", kNow + 60s, 30s);
  EXPECT_EQ(suspicion(begun), 3);
  apply_settlement(begun, settlement(begun, Kind::retry), kNow + 61s);
  EXPECT_EQ(suspicion(begun), 2) << "a crash is not forgotten";
}

TEST(IsRetried, ATaskThatWasAttemptedAndIsDueForItsHandlerAgain) {
  EXPECT_FALSE(is_retried(pending()));
  EXPECT_TRUE(is_retried(running())) << "its worker may have died";
  TaskRecord record = running();
  apply_settlement(record, settlement(record, Kind::hand_back), kNow);
  EXPECT_FALSE(is_retried(record)) << "that attempt does not count";
  record = running();
  apply_settlement(record, settlement(record, Kind::retry), kNow);
  EXPECT_TRUE(is_retried(record));
  record.info.stage = Stage::on_final_failure;
  EXPECT_FALSE(is_retried(record)) << "a callback is no attempt";
}

TEST(Holds, NeedsARunningTaskOfTheSameVersion) {
  const TaskRecord held = running();
  EXPECT_TRUE(holds(held, ticket(held)));
  EXPECT_FALSE(holds(held, {held.info.id, held.info.version - 1}));
  EXPECT_FALSE(holds(pending(), ticket(pending())));
}

TEST(MayRevise, NeedsTheCurrentVersionOfATaskThatIsNotLeased) {
  const TaskRecord waiting = pending();
  EXPECT_TRUE(may_revise(waiting, ticket(waiting)));
  EXPECT_FALSE(may_revise(waiting, {waiting.info.id, waiting.info.version - 1}));
  EXPECT_FALSE(may_revise(running(), ticket(running())));
}

TEST(ApplyClaim, CountsTheAttemptInItsStage) {
  EXPECT_EQ(running().info.attempts, 1);
  EXPECT_EQ(running().callback_attempts, 0);
  for (const Stage stage : {Stage::on_success, Stage::on_final_failure}) {
    EXPECT_EQ(running(stage).info.attempts, 0);
    EXPECT_EQ(running(stage).callback_attempts, 1);
  }
}

TEST(ApplyClaim, OfAnExpiredLeaseCountsACrashAndNoAttempt) {
  TaskRecord record = running();
  const auto version = record.info.version;
  apply_claim(record, Event::claim_expired, "rescuer", kNow + 60s, 30s);
  EXPECT_EQ(record.info.attempts, 1);
  EXPECT_EQ(record.info.crashes, 1);
  EXPECT_EQ(record.info.deliveries, 2);
  EXPECT_EQ(record.locked_by, "rescuer");
  EXPECT_EQ(record.lease_until, kNow + 90s);
  EXPECT_GT(record.info.version, version);
}

TEST(ApplyClaim, OfASuspectCountsNeitherACrashNorAnAttempt) {
  TaskRecord record = pending();
  apply_claim(record, Event::claim, "worker", kNow, 30s, false);
  apply_claim(record, Event::claim_suspect, "rescuer", kNow + 60s, 30s);
  EXPECT_EQ(record.info.attempts, 1);
  EXPECT_EQ(record.info.crashes, 0);
  EXPECT_EQ(record.info.deliveries, 2);
  EXPECT_TRUE(record.began);
}

TEST(ApplySettlement, ReleasesTheTaskHoweverItEnds) {
  for (const Kind kind : {Kind::finish, Kind::retry, Kind::advance, Kind::hand_back}) {
    TaskRecord record = running();
    const auto version = record.info.version;
    apply_settlement(record, settlement(record, kind), kNow);
    EXPECT_EQ(record.locked_by, "");
    EXPECT_EQ(record.lease_until, TimePoint{});
    EXPECT_GT(record.info.version, version);
  }
}

TEST(ApplySettlement, HandBackTakesTheAttemptOffInItsStage) {
  for (const Stage stage : {Stage::run, Stage::on_success}) {
    TaskRecord record = running(stage);
    apply_settlement(record, settlement(record, Kind::hand_back), kNow);
    EXPECT_EQ(record.info.attempts, 0);
    EXPECT_EQ(record.callback_attempts, 0);
    EXPECT_EQ(record.info.next_at, kNow);
    EXPECT_EQ(record.info.stage, stage);
  }
}

TEST(ApplySettlement, AdvanceCountsTheNextStageFromZero) {
  TaskRecord record = running();
  Settlement next = settlement(record, Kind::advance);
  next.stage = Stage::on_final_failure;
  next.outcome = Outcome::rejected;
  next.error = "account closed";
  apply_settlement(record, next, kNow + 1s);
  EXPECT_EQ(record.info.stage, Stage::on_final_failure);
  EXPECT_EQ(record.info.outcome, Outcome::rejected);
  EXPECT_EQ(record.info.last_error, "account closed");
  EXPECT_EQ(record.info.attempts, 1);
  EXPECT_EQ(record.callback_attempts, 0);
}

TEST(ApplySettlement, OnlyAnErrorIsAFailure) {
  TaskRecord record = running();
  apply_settlement(record, settlement(record, Kind::retry), kNow);
  EXPECT_FALSE(record.info.first_failed_at);
}

TEST(ApplyEnd, TellsBeforeItEnds) {
  TaskRecord record = running();
  apply_end(record, Event::end_and_tell, {}, kNow + 1s);
  EXPECT_EQ(record.info.state, TaskState::pending);
  EXPECT_EQ(record.info.stage, Stage::on_final_failure);
  EXPECT_EQ(record.info.next_at, kNow + 1s);
  EXPECT_FALSE(record.info.finished_at);
  apply_end(record, Event::end, {}, kNow + 2s);
  EXPECT_EQ(record.info.state, TaskState::finished);
  EXPECT_EQ(record.info.finished_at, kNow + 2s);
  EXPECT_EQ(record.info.outcome, Outcome::cancelled);
}

TEST(ApplyEnd, ASuccessIsReportedWithItsResult) {
  TaskRecord record = running();
  apply_end(record, Event::end_and_tell, {.outcome = Outcome::succeeded, .result = "17"}, kNow + 1s);
  EXPECT_EQ(record.info.stage, Stage::on_success);
  EXPECT_EQ(record.info.outcome, Outcome::succeeded);
  EXPECT_EQ(record.result, "17");
  EXPECT_FALSE(record.info.last_failed_at);
}

TEST(ApplyEnd, AReasonIsTheLastError) {
  TaskRecord record = running();
  apply_end(record, Event::end, {.outcome = Outcome::rejected, .error = "refunded"}, kNow + 1s);
  EXPECT_EQ(record.info.last_error, "refunded");
  EXPECT_EQ(record.info.first_failed_at, kNow + 1s);
  EXPECT_EQ(record.info.last_failed_at, kNow + 1s);
}

TEST(EndEvent, OnlyACancellationWithoutACallbackOverridesADecision) {
  TaskRecord decided = running();
  decided.info.stage = Stage::on_final_failure;
  EXPECT_EQ(end_event(decided, {.outcome = Outcome::cancelled}), Event::end);
  EXPECT_FALSE(end_event(decided, {.outcome = Outcome::cancelled, .tell = true}));
  for (const bool tell : {false, true}) {
    EXPECT_FALSE(end_event(decided, {.outcome = Outcome::succeeded, .tell = tell}));
    EXPECT_FALSE(end_event(decided, {.outcome = Outcome::rejected, .tell = tell}));
  }
}

TEST(NewRecord, IsDueAfterItsDelayOrAtItsTime) {
  NewTask task = a_new_task();
  task.delay = 5s;
  EXPECT_EQ(new_record(task, TaskId{1}, kNow).info.next_at, kNow + 5s);
  task.due_at = kNow - 1h;
  EXPECT_EQ(new_record(task, TaskId{1}, kNow).info.next_at, kNow - 1h);
}

TEST(NextGeneration, KeepsTheTaskAndForgetsItsAttempts) {
  TaskRecord ended = running();
  ended.result = "half done";
  ended.callback_attempts = 3;
  apply_end(ended, Event::end, {}, kNow);
  const TaskRecord fresh = next_generation(ended, TaskId{2}, kNow + 1h);
  EXPECT_EQ(fresh.info.id, TaskId{2});
  EXPECT_EQ(fresh.info.key, "pay:42");
  EXPECT_EQ(fresh.payload, "[42]");
  EXPECT_EQ(fresh.info.generation, 1);
  EXPECT_EQ(fresh.info.state, TaskState::pending);
  EXPECT_FALSE(fresh.info.outcome);
  EXPECT_FALSE(fresh.info.finished_at);
  EXPECT_EQ(fresh.info.attempts + fresh.info.crashes + fresh.info.deliveries + fresh.callback_attempts, 0);
  EXPECT_EQ(fresh.info.next_at, kNow + 1h);
  EXPECT_EQ(fresh.info.created_at, kNow + 1h);
  EXPECT_EQ(fresh.result, "");
}

}  // namespace
}  // namespace easyretry::task
