#include <map>

#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

TEST_P(StoreConformance, AClaimGivesTheWholeTaskAndMarksItRunning) {
  const task::RetryRules rules{.max_attempts = 7, .max_duration = 1h, .deadline = now() + 2h, .backoff = "fixed 5s"};
  const TaskRecord task = insert(a_task().payload("[42]").payload_version(2).business("order", "42").rules(rules));

  const TaskRecord claimed = claim(task, "worker-1", 10s);

  EXPECT_EQ(claimed.info.state, TaskState::running);
  EXPECT_EQ(claimed.locked_by, "worker-1");
  EXPECT_EQ(claimed.lease_until, now() + 10s);
  EXPECT_EQ(claimed.payload, "[42]");
  EXPECT_EQ(claimed.payload_version, 2);
  EXPECT_EQ(claimed.rules, rules);
  EXPECT_EQ(claimed.info.next_at, task.info.next_at);
  expect_same(again(task), claimed);
}

TEST_P(StoreConformance, ClaimCarriesTheStoresClock) {
  clock().advance(1234ms);
  EXPECT_EQ(must(store().claim({.tickets = {}, .owner = "worker", .lease = kLease})).now, now());
}

TEST_P(StoreConformance, AnEmptyClaimWinsNothing) {
  insert(a_task());
  EXPECT_THAT(must(store().claim({.tickets = {}, .owner = "worker", .lease = kLease})).won, IsEmpty());
}

TEST_P(StoreConformance, TheAttemptIsCountedBeforeTheRun) {
  const TaskRecord claimed = running(a_task());
  EXPECT_EQ(claimed.info.attempts, 1);
  EXPECT_EQ(claimed.info.deliveries, 1);
  EXPECT_EQ(claimed.info.crashes, 0);
}

TEST_P(StoreConformance, AClaimGivesANewVersion) {
  const TaskRecord task = insert(a_task());
  EXPECT_GT(claim(task).info.version, task.info.version);
}

TEST_P(StoreConformance, ATaskThatIsNotDueCannotBeClaimed) {
  const TaskRecord task = insert(a_task().due_in(5s));
  clock().advance(4999ms);
  EXPECT_FALSE(try_claim(ticket(task)));
  expect_same(again(task), task);
}

TEST_P(StoreConformance, ATaskCanBeClaimedTheMomentItIsDue) {
  const TaskRecord task = insert(a_task().due_in(5s));
  clock().advance(5s);
  EXPECT_TRUE(try_claim(ticket(task)));
}

TEST_P(StoreConformance, ALiveLeaseHoldsTheTask) {
  const TaskRecord held = running(a_task());
  clock().advance(kLease - 1ms);
  EXPECT_FALSE(try_claim(ticket(held), "thief"));
  expect_same(again(held), held);
}

TEST_P(StoreConformance, AnOldVersionWinsNothing) {
  const TaskRecord task = insert(a_task());
  const TaskRecord retried = claim(task);
  settle(retry(retried, 0ms));
  EXPECT_FALSE(try_claim(ticket(task)));
  EXPECT_FALSE(try_claim(ticket(retried)));
  EXPECT_TRUE(try_claim(ticket(again(task))));
}

TEST_P(StoreConformance, AVersionThatDoesNotExistYetWinsNothing) {
  const TaskRecord task = insert(a_task());
  EXPECT_FALSE(try_claim({task.info.id, task.info.version + 1}));
  expect_same(again(task), task);
}

TEST_P(StoreConformance, UnknownAndFinishedTasksAreNotWon) {
  EXPECT_FALSE(try_claim({kUnknown, 1}));
  const TaskRecord done = finished(a_task());
  EXPECT_FALSE(try_claim(ticket(done)));
  expect_same(again(done), done);
}

TEST_P(StoreConformance, AnExpiredLeaseIsClaimedAsACrash) {
  const TaskRecord dead = running(a_task());
  clock().advance(kLease);

  const TaskRecord rescued = claim(dead, "rescuer");

  EXPECT_EQ(rescued.info.crashes, 1);
  EXPECT_EQ(rescued.info.attempts, 1) << "the run that died is a crash, not an attempt";
  EXPECT_EQ(rescued.info.deliveries, 2);
  EXPECT_GT(rescued.info.version, dead.info.version);
  EXPECT_EQ(rescued.locked_by, "rescuer");
  EXPECT_EQ(rescued.lease_until, now() + kLease);
}

TEST_P(StoreConformance, ATaskThatMayNotHaveBegunIsNotChargedWithACrash) {
  const TaskRecord task = insert(a_task());
  const std::vector<Ticket> first{ticket(task)};
  const auto waits = must(store().claim({.tickets = first, .owner = "worker", .lease = kLease, .begin = false})).won;
  ASSERT_THAT(waits, SizeIs(1));
  EXPECT_EQ(waits[0].locked_by, "worker");
  expect_same(again(task), waits[0]);
  clock().advance(kLease);

  const TaskRecord rescued = claim(waits[0], "rescuer");
  EXPECT_EQ(rescued.info.crashes, 0);
  EXPECT_EQ(rescued.info.attempts, 1);
  EXPECT_EQ(rescued.info.deliveries, 2);

  clock().advance(kLease);
  EXPECT_EQ(claim(rescued).info.crashes, 1) << "the rescuer had begun with it";
}

TEST_P(StoreConformance, ATaskThatMayNotHaveBegunIsSettledLikeAnyOther) {
  const TaskRecord task = insert(a_task());
  const std::vector<Ticket> first{ticket(task)};
  const auto waits = must(store().claim({.tickets = first, .owner = "worker", .lease = kLease, .begin = false})).won;
  ASSERT_THAT(waits, SizeIs(1));
  EXPECT_TRUE(renew(waits[0], kLease));
  EXPECT_TRUE(settle(retry(waits[0], 0ms)));
  EXPECT_EQ(again(task).locked_by, "");
  EXPECT_EQ(claim(again(task)).info.crashes, 0);
}

TEST_P(StoreConformance, AScanMarksSuspectTasks) {
  const TaskRecord task = insert(a_task());
  const auto suspicion = [&] {
    const LoadReply reply = load_shard_of(task);
    return reply.tasks.size() == 1 ? int{reply.tasks[0].suspicion} : -1;
  };
  EXPECT_EQ(suspicion(), 0);
  const std::vector<Ticket> first{ticket(task)};
  const auto waits = must(store().claim({.tickets = first, .owner = "worker", .lease = kLease, .begin = false})).won;
  ASSERT_THAT(waits, SizeIs(1));
  EXPECT_EQ(suspicion(), -1) << "a live lease holds it";
  clock().advance(kLease);
  EXPECT_EQ(suspicion(), 1) << "its worker died, and it may not have begun";
  const TaskRecord begun = claim(waits[0]);
  clock().advance(kLease);
  EXPECT_EQ(suspicion(), 2) << "its worker died while it ran";
  EXPECT_TRUE(settle(retry(claim(begun), 0ms)));
  EXPECT_EQ(suspicion(), 2) << "a crash is not forgotten";
}

TEST_P(StoreConformance, ATaskStoredAsRunningHasBegun) {
  NewTask leased = a_task();
  leased.owner = "caller";
  leased.lease = kLease;
  const TaskRecord started = insert(leased);
  clock().advance(kLease);
  EXPECT_EQ(claim(started).info.crashes, 1);
}

TEST_P(StoreConformance, AnAbandonedTaskIsNotClaimedWithTheTicketItWasLoadedWith) {
  const TaskRecord task = insert(a_task());
  claim(task);
  clock().advance(kLease);
  EXPECT_FALSE(try_claim(ticket(task)));
}

TEST_P(StoreConformance, EveryCrashIsCounted) {
  TaskRecord task = insert(a_task());
  task = claim(task);
  for (int crash = 1; crash <= 4; ++crash) {
    clock().advance(kLease);
    task = claim(task);
    EXPECT_EQ(task.info.crashes, crash);
    EXPECT_EQ(task.info.attempts, 1);
    EXPECT_EQ(task.info.deliveries, crash + 1);
  }
}

TEST_P(StoreConformance, ALeaseOfNothingIsOverAtOnce) {
  const TaskRecord task = claim(insert(a_task()), "worker", 0ms);
  EXPECT_EQ(claim(task).info.crashes, 1);
}

TEST_P(StoreConformance, OneClaimTakesFreeTasksAndLeavesTheRest) {
  const TaskRecord free = insert(a_task());
  const TaskRecord later = insert(a_task().due_in(1h));
  const TaskRecord held = running(a_task());
  const TaskRecord other = insert(a_task());
  const std::vector<Ticket> tickets{ticket(free), ticket(later), {kUnknown, 1}, ticket(held), ticket(other)};

  const auto won = must(store().claim({.tickets = tickets, .owner = "worker", .lease = kLease})).won;

  EXPECT_THAT(ids_of(won), UnorderedElementsAre(free.info.id, other.info.id));
  expect_same(again(later), later);
  expect_same(again(held), held);
}

TEST_P(StoreConformance, ATicketTwiceInOneClaimIsWonOnce) {
  const TaskRecord task = insert(a_task());
  const std::vector<Ticket> twice{ticket(task), ticket(task)};
  EXPECT_THAT(must(store().claim({.tickets = twice, .owner = "worker", .lease = kLease})).won, SizeIs(1));
  EXPECT_EQ(again(task).info.deliveries, 1);
  EXPECT_EQ(again(task).info.attempts, 1);
}

TEST_P(StoreConformance, AClaimSentAgainWinsNothing) {
  const TaskRecord task = insert(a_task());
  const TaskRecord claimed = claim(task);
  EXPECT_FALSE(try_claim(ticket(task)));
  expect_same(again(task), claimed);
}

TEST_P(StoreConformance, AThousandTasksAreClaimedInOneBatch) {
  const auto tasks = insert_many(1000, a_task());
  std::map<TaskId, std::string> keys;
  for (const TaskRecord& task : tasks) keys[task.info.id] = task.info.key;
  const auto won = claim_all(tasks);
  EXPECT_THAT(won, SizeIs(tasks.size()));
  for (const TaskRecord& task : won) EXPECT_EQ(task.info.key, keys.at(task.info.id));
}

TEST_P(StoreConformance, AttemptsAfterTheRunAreCountedApart) {
  const TaskRecord ran = running(a_task());
  settle(advance(ran, Stage::on_success, Outcome::succeeded));
  const TaskRecord callback = claim(again(ran));
  EXPECT_EQ(callback.info.attempts, 1);
  EXPECT_EQ(callback.callback_attempts, 1);
  EXPECT_EQ(callback.info.deliveries, 2);
}

TEST_P(StoreConformance, ACrashInACallbackIsACrash) {
  const TaskRecord ran = running(a_task());
  settle(advance(ran, Stage::on_final_failure, Outcome::exhausted));
  const TaskRecord dead = claim(again(ran));
  clock().advance(kLease);
  const TaskRecord rescued = claim(dead);
  EXPECT_EQ(rescued.info.crashes, 1);
  EXPECT_EQ(rescued.info.attempts, 1);
  EXPECT_EQ(rescued.callback_attempts, 1);
  EXPECT_EQ(rescued.info.stage, Stage::on_final_failure);
}

TEST_P(StoreConformance, AClockThatWentBackDoesNotFreeAHeldTask) {
  const TaskRecord held = running(a_task());
  clock().set_wall(now() - 1h);
  EXPECT_FALSE(try_claim(ticket(held)));
  EXPECT_THAT(load_shard_of(held, 0ms).tasks, IsEmpty());
  expect_same(again(held), held);
}

TEST_P(StoreConformance, AnOwnerMayHaveAnyName) {
  EXPECT_EQ(claim(insert(a_task()), "主机-1:4711/o'brien").locked_by, "主机-1:4711/o'brien");
}

}  // namespace
}  // namespace easyretry::test
