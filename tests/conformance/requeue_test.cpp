#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

TEST_P(StoreConformance, ARequeuedTaskStartsAgainUnderANewId) {
  const task::RetryRules rules{.max_attempts = 7, .max_duration = 1h, .deadline = {}, .backoff = "fixed 5s"};
  const TaskRecord ended =
      finished(a_task().payload("[42]").payload_version(2).business("order", "42").rules(rules), Outcome::quarantined);
  clock().advance(1h);

  const TaskRecord fresh = record(requeue(ended.info.id).value());

  EXPECT_NE(fresh.info.id, ended.info.id);
  EXPECT_EQ(shard(fresh), shard(ended));
  EXPECT_EQ(fresh.info.generation, 1);
  EXPECT_EQ(fresh.info.state, TaskState::pending);
  EXPECT_EQ(fresh.info.stage, Stage::run);
  EXPECT_FALSE(fresh.info.outcome);
  EXPECT_FALSE(fresh.info.finished_at);
  EXPECT_EQ(fresh.info.attempts, 0);
  EXPECT_EQ(fresh.info.crashes, 0);
  EXPECT_EQ(fresh.info.deliveries, 0);
  EXPECT_EQ(fresh.callback_attempts, 0);
  EXPECT_EQ(fresh.info.created_at, now());
  EXPECT_EQ(fresh.info.next_at, now());
  EXPECT_EQ(fresh.info.key, ended.info.key);
  EXPECT_EQ(fresh.info.handler, ended.info.handler);
  EXPECT_EQ(fresh.info.business_type, "order");
  EXPECT_EQ(fresh.info.business_id, "42");
  EXPECT_EQ(fresh.payload, "[42]");
  EXPECT_EQ(fresh.payload_version, 2);
  EXPECT_EQ(fresh.rules, rules);
  EXPECT_EQ(fresh.result, "");
}

TEST_P(StoreConformance, ATaskRequeuedWithOtherArgumentsDiffersOnlyInThem) {
  const TaskRecord ended = finished(a_task().payload("[42]").payload_version(2).business("order", "42"));
  const TaskRecord fresh = record(must(store().requeue_with(ended.info.id, "[43]")).value());
  EXPECT_EQ(fresh.payload, "[43]");
  EXPECT_EQ(fresh.payload_version, 2);
  EXPECT_EQ(fresh.info.generation, 1);
  EXPECT_EQ(fresh.info.key, ended.info.key);
  EXPECT_EQ(fresh.info.business_id, "42");
  EXPECT_EQ(fresh.info.state, TaskState::pending);
  EXPECT_EQ(again(ended).payload, "[42]") << "history says what ran";
  EXPECT_EQ(again(ended).info.requeued_as, fresh.info.id);
  EXPECT_EQ(claim(fresh).payload, "[43]");
}

TEST_P(StoreConformance, ATaskWhoseArgumentsBeginWithAZeroByteIsRequeued) {
  const std::string bytes{"\0x", 2};
  const TaskRecord ended = finished(a_task().payload(bytes));
  EXPECT_EQ(record(requeue(ended.info.id).value()).payload, bytes);
}

TEST_P(StoreConformance, OtherArgumentsDoNotRequeueATaskTwiceNorOneThatIsLive) {
  const TaskRecord ended = finished(a_task());
  const TaskRecord waiting = insert(a_task());
  ASSERT_TRUE(must(store().requeue_with(ended.info.id, "[1]")));
  EXPECT_FALSE(must(store().requeue_with(ended.info.id, "[2]")));
  EXPECT_FALSE(requeue(ended.info.id));
  EXPECT_FALSE(must(store().requeue_with(waiting.info.id, "[3]")));
  EXPECT_FALSE(must(store().requeue_with(TaskId{17}, "[4]")));
  EXPECT_EQ(count({}), 2);
}

TEST_P(StoreConformance, ARequeuedTaskKeepsADeadlineThatIsStillAheadAndDropsOneThatHasPassed) {
  const auto due_by = [&](Millis after) { return task::RetryRules{.deadline = now() + after, .backoff = {}}; };
  const TaskRecord ahead = finished(a_task().rules(due_by(2h)), Outcome::quarantined);
  const TaskRecord passed = finished(a_task().rules(due_by(1h)), Outcome::exhausted);
  clock().advance(1h);
  EXPECT_EQ(record(requeue(ahead.info.id).value()).rules.deadline, now() + 1h);
  EXPECT_EQ(record(requeue(passed.info.id).value()).rules.deadline, std::nullopt);
}

TEST_P(StoreConformance, ARequeuedTaskCanBeClaimedAtOnce) {
  const TaskRecord ended = finished(a_task());
  const TaskRecord fresh = record(requeue(ended.info.id).value());
  EXPECT_THAT(load_shard_of(fresh).tasks, SizeIs(1));
  EXPECT_EQ(claim(fresh).info.attempts, 1);
}

TEST_P(StoreConformance, RequeueForgetsTheCallbackOfTheLastGeneration) {
  const TaskRecord ran = running(a_task());
  settle(advance(ran, Stage::on_final_failure, Outcome::exhausted, "half done"));
  settle(finish(claim(again(ran)), Outcome::exhausted));
  const TaskRecord fresh = record(requeue(ran.info.id).value());
  EXPECT_EQ(fresh.info.stage, Stage::run);
  EXPECT_EQ(fresh.result, "");
  EXPECT_EQ(fresh.callback_attempts, 0);
}

TEST_P(StoreConformance, ARequeuedTaskStillHasItsLastError) {
  const TaskRecord claimed = running(a_task());
  settle(finish(claimed, Outcome::rejected, "account closed"));
  const TaskRecord ended = again(claimed);
  clock().advance(1h);
  const TaskRecord fresh = record(requeue(ended.info.id).value());
  EXPECT_EQ(fresh.info.last_error, "account closed");
  EXPECT_EQ(fresh.info.first_failed_at, ended.info.first_failed_at);
  EXPECT_EQ(fresh.info.last_failed_at, ended.info.last_failed_at);
}

TEST_P(StoreConformance, TheHistoryOfTheLastGenerationStaysAndNamesItsSuccessor) {
  TaskRecord ended = finished(a_task(), Outcome::rejected);
  EXPECT_EQ(ended.info.requeued_as, std::nullopt);
  clock().advance(1s);
  const TaskId fresh = requeue(ended.info.id).value();
  ended.info.requeued_as = fresh;
  expect_same(again(ended), ended);
  EXPECT_EQ(record(fresh).info.requeued_as, std::nullopt);
  EXPECT_EQ(count({.finished = true, .requeued = true}), 1);
  EXPECT_EQ(count({}), 1);
}

// The case that matters: a bulk requeue of failed tasks, sent twice, must not run tasks that have succeeded meanwhile.
TEST_P(StoreConformance, ARequeuedTaskIsNotRequeuedAgainAfterItsSuccessorSucceeded) {
  const TaskRecord failed = finished(a_task(), Outcome::exhausted);
  const TaskRecord fresh = record(requeue(failed.info.id).value());
  settle(finish(claim(fresh), Outcome::succeeded));
  EXPECT_FALSE(requeue(failed.info.id));
  EXPECT_EQ(count({}), 0);
  EXPECT_EQ(again(failed).info.requeued_as, fresh.info.id);
}

TEST_P(StoreConformance, TheNewestGenerationCanBeRequeued) {
  const TaskRecord first = finished(a_task(), Outcome::exhausted);
  const TaskRecord second = record(requeue(first.info.id).value());
  settle(finish(claim(second), Outcome::exhausted));
  const TaskId third = requeue(second.info.id).value();
  EXPECT_EQ(again(first).info.requeued_as, second.info.id);
  EXPECT_EQ(again(second).info.requeued_as, third);
  EXPECT_EQ(record(third).info.generation, 2);
}

TEST_P(StoreConformance, ATaskThatWasNotStartedAgainIsNotMarked) {
  const TaskRecord ended = finished(a_task().key("pay:42"), Outcome::exhausted);
  const TaskRecord live = insert(a_task().key("pay:42"));
  EXPECT_FALSE(requeue(ended.info.id)) << "its key is live";
  expect_same(again(ended), ended);
  cancel(live.info.id);
  EXPECT_TRUE(requeue(ended.info.id));
}

TEST_P(StoreConformance, GenerationsAreCounted) {
  TaskRecord task = finished(a_task());
  for (int generation = 1; generation <= 3; ++generation) {
    clock().advance(1s);
    const TaskRecord fresh = record(requeue(task.info.id).value());
    EXPECT_EQ(fresh.info.generation, generation);
    const TaskRecord claimed = claim(fresh);
    settle(finish(claimed));
    task = again(claimed);
  }
  EXPECT_EQ(count({.finished = true, .requeued = true}), 4);
  EXPECT_THAT(list({.finished = true}), ElementsAre(task.info.id)) << "of each, the newest";
}

TEST_P(StoreConformance, ATaskWhoseKeyIsLiveAgainIsNotRequeued) {
  const TaskRecord ended = finished(a_task().key("pay:42"));
  const TaskRecord live = insert(a_task().key("pay:42"));
  EXPECT_FALSE(requeue(ended.info.id));
  EXPECT_EQ(count({}), 1);
  expect_same(again(live), live);
}

TEST_P(StoreConformance, ALiveKeyInAnotherSpaceDoesNotPreventARequeue) {
  const TaskRecord ended = finished(a_task().name_space("shop").key("pay:42"));
  insert(a_task().name_space("bank").key("pay:42"));
  EXPECT_TRUE(requeue(ended.info.id));
}

TEST_P(StoreConformance, ARequeueSentAgainStartsNothing) {
  const TaskRecord ended = finished(a_task());
  EXPECT_TRUE(requeue(ended.info.id));
  EXPECT_FALSE(requeue(ended.info.id));
  EXPECT_EQ(count({}), 1);
}

TEST_P(StoreConformance, OnlyFinishedTasksAreRequeued) {
  const TaskRecord pending = insert(a_task());
  const TaskRecord held = running(a_task());
  const std::vector<TaskId> ids{pending.info.id, held.info.id, kUnknown};
  EXPECT_THAT(must(store().requeue(ids)), ElementsAre(std::nullopt, std::nullopt, std::nullopt));
  expect_same(again(pending), pending);
  expect_same(again(held), held);
}

TEST_P(StoreConformance, AnEmptyRequeueStartsNothing) {
  finished(a_task());
  EXPECT_THAT(must(store().requeue({})), IsEmpty());
  EXPECT_EQ(count({}), 0);
}

TEST_P(StoreConformance, TwoPastsOfOneKeyInOneRequeueStartOne) {
  const TaskRecord older = finished(a_task().key("pay:42").payload("older"));
  const TaskRecord newer = finished(a_task().key("pay:42").payload("newer"));
  const std::vector<TaskId> ids{newer.info.id, older.info.id, newer.info.id};
  const auto started = must(store().requeue(ids));
  ASSERT_TRUE(started[0]);
  EXPECT_FALSE(started[1]);
  EXPECT_FALSE(started[2]);
  EXPECT_EQ(record(*started[0]).payload, "newer");
  EXPECT_EQ(again(newer).info.requeued_as, started[0]);
  EXPECT_EQ(again(older).info.requeued_as, std::nullopt);
}

TEST_P(StoreConformance, RequeueAnswersForEachInOrder) {
  const TaskRecord first = finished(a_task().payload("first"));
  const TaskRecord second = finished(a_task().payload("second"));
  const std::vector<TaskId> ids{second.info.id, kUnknown, first.info.id};
  const auto started = must(store().requeue(ids));
  ASSERT_THAT(started, SizeIs(3));
  EXPECT_EQ(record(started[0].value()).payload, "second");
  EXPECT_FALSE(started[1]);
  EXPECT_EQ(record(started[2].value()).payload, "first");
}

TEST_P(StoreConformance, AMarkReachesATaskOfAnEarlierMonth) {
  const TaskRecord march = finished(a_task(), Outcome::exhausted);
  clock().advance(24h * 40);
  const TaskRecord fresh = record(requeue(march.info.id).value());
  settle(finish(claim(fresh)));
  EXPECT_FALSE(requeue(march.info.id));
  EXPECT_THAT(list({.finished = true}), ElementsAre(fresh.info.id));
  EXPECT_EQ(again(march).info.requeued_as, fresh.info.id);
}

TEST_P(StoreConformance, AMarkOutlivesHousekeepingAsLongAsItsTaskIsRemembered) {
  const TaskRecord ended = finished(a_task(), Outcome::exhausted);
  const TaskRecord fresh = record(requeue(ended.info.id).value());
  settle(finish(claim(fresh)));
  must(store().keep());
  EXPECT_EQ(again(ended).info.requeued_as, fresh.info.id);
  EXPECT_FALSE(requeue(ended.info.id));
}

TEST_P(StoreConformance, ACancelledTaskCanBeRequeued) {
  const TaskRecord task = insert(a_task().due_in(24h));
  cancel(task.info.id);
  EXPECT_EQ(record(requeue(task.info.id).value()).info.next_at, now());
}

}  // namespace
}  // namespace easyretry::test
