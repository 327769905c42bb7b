#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

TEST_P(StoreConformance, CancelCarriesTheStoresClock) {
  clock().advance(1234ms);
  EXPECT_EQ(must(store().end({})).now, now());
}

TEST_P(StoreConformance, AnEmptyCancelAppliesNothing) {
  EXPECT_THAT(must(store().end({})).applied, IsEmpty());
}

TEST_P(StoreConformance, APendingTaskIsCancelledIntoHistory) {
  const TaskRecord pending = insert(a_task().due_in(1h));
  clock().advance(1s);
  EXPECT_TRUE(cancel(pending.info.id));

  TaskRecord wanted = pending;
  wanted.info.state = TaskState::finished;
  wanted.info.outcome = Outcome::cancelled;
  wanted.info.finished_at = now();
  wanted.info.version = again(pending).info.version;
  expect_same(again(pending), wanted);
  EXPECT_GT(wanted.info.version, pending.info.version);
}

TEST_P(StoreConformance, ARunningTaskIsCancelledUnderItsWorker) {
  const TaskRecord held = running(a_task());
  EXPECT_TRUE(cancel(held.info.id));
  const TaskRecord ended = again(held);
  EXPECT_EQ(ended.info.state, TaskState::finished);
  EXPECT_EQ(ended.info.outcome, Outcome::cancelled);
  EXPECT_EQ(ended.info.attempts, 1);
  EXPECT_EQ(ended.locked_by, "");
  EXPECT_EQ(ended.lease_until, TimePoint{});

  EXPECT_FALSE(settle(finish(held))) << "the worker finds that the task has moved on";
  EXPECT_FALSE(renew(held, kLease));
  expect_same(again(held), ended);
}

TEST_P(StoreConformance, ACancelledTaskFreesItsKey) {
  const TaskRecord first = insert(a_task().key("pay:42"));
  cancel(first.info.id);
  EXPECT_TRUE(put(a_task().key("pay:42")).created);
}

TEST_P(StoreConformance, APendingTaskToBeToldIsDueAtOnceForItsCallback) {
  const TaskRecord pending = insert(a_task().due_in(1h));
  clock().advance(1s);
  EXPECT_TRUE(cancel(pending.info.id, kCancelledAndTold));

  TaskRecord wanted = pending;
  wanted.info.stage = Stage::on_final_failure;
  wanted.info.outcome = Outcome::cancelled;
  wanted.info.next_at = now();
  wanted.info.version = again(pending).info.version;
  expect_same(again(pending), wanted);
  EXPECT_GT(wanted.info.version, pending.info.version);
  EXPECT_THAT(load_shard_of(pending).tasks, SizeIs(1));
}

TEST_P(StoreConformance, ARunningTaskToBeToldIsTakenFromItsWorker) {
  const TaskRecord held = running(a_task());
  clock().advance(1s);
  EXPECT_TRUE(cancel(held.info.id, kCancelledAndTold));
  const TaskRecord told = again(held);
  EXPECT_EQ(told.info.state, TaskState::pending);
  EXPECT_EQ(told.info.stage, Stage::on_final_failure);
  EXPECT_EQ(told.info.outcome, Outcome::cancelled);
  EXPECT_EQ(told.info.next_at, now());
  EXPECT_EQ(told.locked_by, "");
  EXPECT_EQ(told.lease_until, TimePoint{});
  EXPECT_FALSE(settle(finish(held)));
  expect_same(again(held), told);

  const TaskRecord callback = claim(told);
  EXPECT_EQ(callback.callback_attempts, 1);
  EXPECT_EQ(callback.info.attempts, 1);
}

TEST_P(StoreConformance, ACancelledTaskKeepsItsKeyUntilItsCallbackHasRun) {
  const TaskRecord task = insert(a_task().key("pay:42"));
  cancel(task.info.id, kCancelledAndTold);
  EXPECT_FALSE(put(a_task().key("pay:42")).created);
  settle(finish(claim(again(task)), Outcome::cancelled));
  EXPECT_TRUE(put(a_task().key("pay:42")).created);
}

TEST_P(StoreConformance, ACancelledTaskIsReportedOnce) {
  const TaskRecord task = insert(a_task());
  cancel(task.info.id, kCancelledAndTold);
  const TaskRecord callback = claim(again(task));
  EXPECT_FALSE(cancel(task.info.id, kCancelledAndTold));
  expect_same(again(task), callback);
}

TEST_P(StoreConformance, ADecidedTaskIsNotReportedAsCancelled) {
  for (const Stage stage : {Stage::on_success, Stage::on_final_failure}) {
    const TaskRecord ran = running(a_task());
    settle(advance(ran, stage, stage == Stage::on_success ? Outcome::succeeded : Outcome::exhausted));
    const TaskRecord decided = again(ran);
    EXPECT_FALSE(cancel(ran.info.id, kCancelledAndTold));
    expect_same(again(ran), decided);
  }
}

TEST_P(StoreConformance, ACallbackThatNeverWorksCanBeEnded) {
  const TaskRecord ran = running(a_task());
  settle(advance(ran, Stage::on_final_failure, Outcome::exhausted));
  EXPECT_TRUE(cancel(ran.info.id, kCancelled));
  EXPECT_EQ(again(ran).info.state, TaskState::finished);
  EXPECT_EQ(again(ran).info.outcome, Outcome::cancelled);
}

TEST_P(StoreConformance, ATicketFromBeforeTheCancelIsWorthless) {
  const TaskRecord task = insert(a_task());
  cancel(task.info.id, kCancelledAndTold);
  EXPECT_FALSE(try_claim(ticket(task)));
}

TEST_P(StoreConformance, AnEndedTaskCannotBeCancelled) {
  const TaskRecord done = finished(a_task());
  EXPECT_FALSE(cancel(done.info.id, kCancelled));
  EXPECT_FALSE(cancel(done.info.id, kCancelledAndTold));
  EXPECT_FALSE(cancel(kUnknown));
  expect_same(again(done), done);
}

TEST_P(StoreConformance, ACancelSentAgainChangesNothing) {
  const TaskRecord task = insert(a_task());
  EXPECT_TRUE(cancel(task.info.id));
  const TaskRecord once = again(task);
  clock().advance(1s);
  EXPECT_FALSE(cancel(task.info.id));
  expect_same(again(task), once);
}

TEST_P(StoreConformance, CancelAnswersForEachInOrder) {
  const TaskRecord pending = insert(a_task());
  const TaskRecord done = finished(a_task());
  const TaskRecord held = running(a_task());
  const std::vector<TaskId> ids{done.info.id, pending.info.id, kUnknown, held.info.id, pending.info.id};
  EXPECT_THAT(must(store().end(endings(ids, kCancelled))).applied, ElementsAre(false, true, false, true, false));
  EXPECT_EQ(count({}), 0);
  EXPECT_EQ(count({.finished = true}), 3);
}

TEST_P(StoreConformance, ATaskTwiceInOneCancelIsReportedOnce) {
  const TaskRecord task = insert(a_task());
  const std::vector<TaskId> twice{task.info.id, task.info.id};
  EXPECT_THAT(must(store().end(endings(twice, kCancelledAndTold))).applied, ElementsAre(true, false));
}

}  // namespace
}  // namespace easyretry::test
