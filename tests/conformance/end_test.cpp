// Tasks that a user completes or fails. Cancelled ones are in cancel_test.cpp: it is the same verb.

#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

const Ending kCompleted{.outcome = Outcome::succeeded};
const Ending kCompletedAndTold{.outcome = Outcome::succeeded, .tell = true, .result = R"({"receipt":"r-17"})"};
const Ending kFailed{.outcome = Outcome::rejected, .error = "refunded by hand"};
const Ending kFailedAndTold{.outcome = Outcome::rejected, .tell = true, .error = "refunded by hand"};

TEST_P(StoreConformance, ACompletedTaskIsASuccessInHistory) {
  for (const bool runs : {false, true}) {
    const TaskRecord task = runs ? running(a_task()) : insert(a_task().due_in(1h));
    clock().advance(1s);
    EXPECT_TRUE(end(task.info.id, kCompleted));
    const TaskRecord ended = again(task);
    EXPECT_EQ(ended.info.state, TaskState::finished);
    EXPECT_EQ(ended.info.outcome, Outcome::succeeded);
    EXPECT_EQ(ended.info.finished_at, now());
    EXPECT_EQ(ended.info.attempts, task.info.attempts);
    EXPECT_EQ(ended.info.last_error, "");
    EXPECT_FALSE(settle(finish(task, Outcome::exhausted))) << "its worker finds that the task has moved on";
    expect_same(again(task), ended);
    EXPECT_TRUE(put(a_task().key(task.info.key)).created) << "its key is free";
  }
}

TEST_P(StoreConformance, ACompletedTaskToBeToldIsDueForOnSuccessWithItsResult) {
  for (const bool runs : {false, true}) {
    const TaskRecord task = runs ? running(a_task()) : insert(a_task().due_in(1h));
    clock().advance(1s);
    EXPECT_TRUE(end(task.info.id, kCompletedAndTold));
    TaskRecord wanted = task;
    wanted.info.state = TaskState::pending;
    wanted.info.stage = Stage::on_success;
    wanted.info.outcome = Outcome::succeeded;
    wanted.info.next_at = now();
    wanted.info.version = task.info.version + 1;
    wanted.result = kCompletedAndTold.result;
    wanted.locked_by = "";
    wanted.lease_until = TimePoint{};
    wanted.began = false;
    expect_same(again(task), wanted);
    EXPECT_FALSE(renew(task, kLease)) << "its worker has lost it";
    const TaskRecord callback = claim(again(task));
    EXPECT_EQ(callback.result, kCompletedAndTold.result);
    EXPECT_EQ(callback.callback_attempts, 1);
    EXPECT_TRUE(settle(finish(callback)));
    EXPECT_EQ(again(task).info.outcome, Outcome::succeeded);
  }
}

TEST_P(StoreConformance, AFailedTaskKeepsItsReasonAndItsFirstFailure) {
  for (const Ending& how : {kFailed, kFailedAndTold}) {
    const TaskRecord first = running(a_task());
    settle(retry(first, 1h, "bank busy"));
    const TimePoint failed_at = now();
    clock().advance(1s);
    EXPECT_TRUE(end(first.info.id, how));
    const TaskRecord ended = again(first);
    EXPECT_EQ(ended.info.state, how.tell ? TaskState::pending : TaskState::finished);
    EXPECT_EQ(ended.info.stage, how.tell ? Stage::on_final_failure : Stage::run);
    EXPECT_EQ(ended.info.outcome, Outcome::rejected);
    EXPECT_EQ(ended.info.last_error, "refunded by hand");
    EXPECT_EQ(ended.info.first_failed_at, failed_at);
    EXPECT_EQ(ended.info.last_failed_at, now());
  }
}

TEST_P(StoreConformance, AReasonIsTheFirstFailureOfATaskThatNeverRan) {
  for (const Ending& how : {kFailed, kFailedAndTold}) {
    const TaskRecord task = insert(a_task().due_in(1h));
    clock().advance(1s);
    EXPECT_TRUE(end(task.info.id, how));
    EXPECT_EQ(again(task).info.first_failed_at, now());
    EXPECT_EQ(again(task).info.last_failed_at, now());
  }
}

TEST_P(StoreConformance, ADecidedTaskIsNeitherCompletedNorFailed) {
  for (const Stage stage : {Stage::on_success, Stage::on_final_failure}) {
    const TaskRecord ran = running(a_task());
    settle(advance(ran, stage, stage == Stage::on_success ? Outcome::succeeded : Outcome::exhausted, "42"));
    for (const Ending& how : {kCompleted, kCompletedAndTold, kFailed, kFailedAndTold}) {
      const TaskRecord decided = again(ran);
      EXPECT_FALSE(end(ran.info.id, how));
      expect_same(again(ran), decided);
    }
    const TaskRecord told = claim(again(ran));
    EXPECT_FALSE(end(ran.info.id, kFailed)) << "nor while its callback runs";
    expect_same(again(ran), told);
  }
}

TEST_P(StoreConformance, ADecidedTaskKeepsItsOutcomeWhenItsCallbackIsDropped) {
  for (const auto& [told, dropped] : {std::pair{kCompletedAndTold, kCompleted}, std::pair{kFailedAndTold, kFailed}}) {
    for (const bool runs : {false, true}) {
      const TaskRecord task = insert(a_task().due_in(1h));
      EXPECT_TRUE(end(task.info.id, told));
      const TaskRecord callback = runs ? claim(again(task)) : again(task);
      Ending how = dropped;
      EXPECT_FALSE(end(task.info.id, how)) << "not by one who would tell if there were a callback";
      how.drop_callback = true;
      EXPECT_TRUE(end(task.info.id, how));
      EXPECT_EQ(again(task).info.state, TaskState::finished);
      EXPECT_EQ(again(task).info.outcome, told.outcome);
      EXPECT_FALSE(settle(finish(callback, told.outcome))) << "the holder of the callback has lost it";
      EXPECT_FALSE(end(task.info.id, how));
    }
  }
}

TEST_P(StoreConformance, AnotherOutcomeThanTheDecidedOneDropsNoCallback) {
  for (const Stage stage : {Stage::on_success, Stage::on_final_failure}) {
    const TaskRecord ran = running(a_task());
    settle(advance(ran, stage, stage == Stage::on_success ? Outcome::succeeded : Outcome::exhausted, "42"));
    const TaskRecord decided = again(ran);
    Ending other = stage == Stage::on_success ? kFailed : kCompleted;
    other.drop_callback = true;
    EXPECT_FALSE(end(ran.info.id, other));
    expect_same(again(ran), decided);
  }
  const TaskRecord ran = running(a_task());
  settle(advance(ran, Stage::on_final_failure, Outcome::exhausted, ""));
  Ending failed = kFailed;
  failed.drop_callback = true;
  EXPECT_FALSE(end(ran.info.id, failed)) << "exhausted is not rejected";
}

TEST_P(StoreConformance, ADecidedTaskIsNotForgottenEither) {
  start({.history = History::none});
  const TaskRecord ran = running(a_task());
  settle(advance(ran, Stage::on_success, Outcome::succeeded));
  EXPECT_FALSE(end(ran.info.id, kFailed));
  EXPECT_TRUE(find(ran.info.id));
}

TEST_P(StoreConformance, AnEndedTaskIsNeitherCompletedNorFailed) {
  const TaskRecord done = finished(a_task(), Outcome::exhausted);
  for (const Ending& how : {kCompleted, kCompletedAndTold, kFailed, kFailedAndTold}) {
    EXPECT_FALSE(end(done.info.id, how));
    EXPECT_FALSE(end(kUnknown, how));
  }
  expect_same(again(done), done);
}

TEST_P(StoreConformance, EachTaskOfABatchEndsInItsOwnWay) {
  const TaskRecord completed = insert(a_task());
  const TaskRecord failed = running(a_task());
  const TaskRecord told = insert(a_task());
  const TaskRecord cancelled = insert(a_task());
  std::vector<Ending> all{kCompleted, kFailed, kCompletedAndTold, kCancelled, kFailed};
  all[0].id = completed.info.id;
  all[1].id = failed.info.id;
  all[2].id = told.info.id;
  all[3].id = cancelled.info.id;
  all[4].id = completed.info.id;
  EXPECT_THAT(must(store().end(all)).applied, ElementsAre(true, true, true, true, false));
  EXPECT_EQ(again(completed).info.outcome, Outcome::succeeded);
  EXPECT_EQ(again(failed).info.outcome, Outcome::rejected);
  EXPECT_EQ(again(failed).info.last_error, "refunded by hand");
  EXPECT_EQ(again(told).result, kCompletedAndTold.result);
  EXPECT_EQ(again(cancelled).info.outcome, Outcome::cancelled);
  EXPECT_EQ(count({}), 1) << "the one whose callback is due";
}

TEST_P(StoreConformance, EndsByUsersAreCountedByOutcome) {
  EXPECT_TRUE(end(insert(a_task().handler("pay")).info.id, kCompleted));
  EXPECT_TRUE(end(insert(a_task().handler("pay")).info.id, kFailed));
  EXPECT_TRUE(end(insert(a_task().handler("pay")).info.id, kFailedAndTold)) << "not before its callback has run";
  const auto ended = must(store().counts(kNamespace)).at("pay").total.ended;
  EXPECT_EQ(ended.at(Outcome::succeeded), 1);
  EXPECT_EQ(ended.at(Outcome::rejected), 1);
}

}  // namespace
}  // namespace easyretry::test
