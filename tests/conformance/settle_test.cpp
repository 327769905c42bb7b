#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

TEST_P(StoreConformance, SettleCarriesTheStoresClock) {
  clock().advance(1234ms);
  EXPECT_EQ(must(store().settle({})).now, now());
}

TEST_P(StoreConformance, AnEmptySettleAppliesNothing) {
  EXPECT_THAT(must(store().settle({})).applied, IsEmpty());
}

TEST_P(StoreConformance, AFinishedTaskKeepsItsFieldsInHistory) {
  const TaskRecord claimed = running(a_task().payload("[42]").business("order", "42"));
  clock().advance(250ms);

  EXPECT_TRUE(settle(finish(claimed)));

  const TaskRecord done = again(claimed);
  EXPECT_EQ(done.info.state, TaskState::finished);
  EXPECT_EQ(done.info.outcome, Outcome::succeeded);
  EXPECT_EQ(done.info.finished_at, now());
  EXPECT_EQ(done.info.attempts, 1);
  EXPECT_EQ(done.info.deliveries, 1);
  EXPECT_EQ(done.info.created_at, claimed.info.created_at);
  EXPECT_EQ(done.info.next_at, claimed.info.next_at);
  EXPECT_EQ(done.payload, "[42]");
  EXPECT_EQ(done.locked_by, "");
  EXPECT_EQ(done.lease_until, TimePoint{});
  EXPECT_GT(done.info.version, claimed.info.version);
}

TEST_P(StoreConformance, EveryOutcomeIsRemembered) {
  for (const Outcome outcome : {Outcome::succeeded, Outcome::exhausted, Outcome::rejected, Outcome::quarantined,
                                Outcome::parked, Outcome::cancelled}) {
    EXPECT_EQ(finished(a_task(), outcome).info.outcome, outcome);
  }
}

TEST_P(StoreConformance, ATaskToBeRetriedIsPendingUntilItsDelayHasPassed) {
  const TaskRecord claimed = running(a_task());
  clock().advance(2s);

  EXPECT_TRUE(settle(retry(claimed, 5s)));

  const TaskRecord waiting = again(claimed);
  EXPECT_EQ(waiting.info.state, TaskState::pending);
  EXPECT_EQ(waiting.info.next_at, now() + 5s);
  EXPECT_EQ(waiting.info.attempts, 1);
  EXPECT_EQ(waiting.locked_by, "");
  EXPECT_EQ(waiting.lease_until, TimePoint{});
  EXPECT_FALSE(waiting.info.outcome);
  EXPECT_FALSE(waiting.info.finished_at);
}

TEST_P(StoreConformance, AttemptsGrowWithEveryRetry) {
  TaskRecord task = insert(a_task());
  for (int attempt = 1; attempt <= 5; ++attempt) {
    task = claim(task);
    EXPECT_EQ(task.info.attempts, attempt);
    settle(retry(task, 1s));
    clock().advance(1s);
    task = again(task);
  }
}

TEST_P(StoreConformance, AHandedBackTaskMayBePostponed) {
  const TaskRecord task = running(a_task());
  Settlement back = hand_back(task);
  back.delay = 30s;
  EXPECT_TRUE(settle(back));
  EXPECT_EQ(again(task).info.next_at, now() + 30s);
  EXPECT_EQ(again(task).info.attempts, 0);
}

TEST_P(StoreConformance, TheFirstFailureStaysAndTheLastOneMoves) {
  const TaskRecord first = running(a_task());
  clock().advance(1s);
  const TimePoint first_failure = now();
  settle(retry(first, 0ms, "bank busy"));
  EXPECT_EQ(again(first).info.first_failed_at, first_failure);
  EXPECT_EQ(again(first).info.last_failed_at, first_failure);
  EXPECT_EQ(again(first).info.last_error, "bank busy");

  const TaskRecord second = claim(again(first));
  clock().advance(1s);
  settle(finish(second, Outcome::exhausted, "bank closed"));
  EXPECT_EQ(again(first).info.first_failed_at, first_failure);
  EXPECT_EQ(again(first).info.last_failed_at, now());
  EXPECT_EQ(again(first).info.last_error, "bank closed");
}

TEST_P(StoreConformance, ASuccessForgetsNoEarlierFailure) {
  const TaskRecord first = running(a_task());
  settle(retry(first, 0ms, "bank busy"));
  const TaskRecord before = again(first);
  clock().advance(1s);
  settle(finish(claim(before)));
  EXPECT_EQ(again(first).info.last_error, "bank busy");
  EXPECT_EQ(again(first).info.first_failed_at, before.info.first_failed_at);
  EXPECT_EQ(again(first).info.last_failed_at, before.info.last_failed_at);
}

TEST_P(StoreConformance, ARetryThatIsNoFailureLeavesNoError) {
  const TaskRecord claimed = running(a_task());
  settle(retry(claimed, 1s, ""));
  EXPECT_FALSE(again(claimed).info.first_failed_at);
  EXPECT_FALSE(again(claimed).info.last_failed_at);
  EXPECT_EQ(again(claimed).info.last_error, "");
}

TEST_P(StoreConformance, AnErrorMayBeLongAndHoldAnyText) {
  const std::string error = std::string(100'000, 'e') + "订单 o'brien \"\\\n";
  const TaskRecord claimed = running(a_task());
  settle(retry(claimed, 1s, error));
  EXPECT_TRUE(again(claimed).info.last_error == error);
}

TEST_P(StoreConformance, AdvanceRemembersOutcomeAndResultForTheCallback) {
  const std::string result{"{\"paid\":true}\0\xff", 15};
  const TaskRecord ran = running(a_task());
  clock().advance(1s);
  Settlement next = advance(ran, Stage::on_success, Outcome::succeeded, result);
  next.delay = 3s;

  EXPECT_TRUE(settle(next));

  const TaskRecord waiting = again(ran);
  EXPECT_EQ(waiting.info.state, TaskState::pending);
  EXPECT_EQ(waiting.info.stage, Stage::on_success);
  EXPECT_EQ(waiting.info.outcome, Outcome::succeeded);
  EXPECT_EQ(waiting.result, result);
  EXPECT_EQ(waiting.info.next_at, now() + 3s);
  EXPECT_FALSE(waiting.info.finished_at);
  EXPECT_EQ(waiting.locked_by, "");
  EXPECT_EQ(waiting.info.attempts, 1);
  EXPECT_EQ(waiting.callback_attempts, 0);
}

TEST_P(StoreConformance, ACallbackIsRetriedAloneAndKeepsTheResult) {
  const TaskRecord ran = running(a_task());
  settle(advance(ran, Stage::on_success, Outcome::succeeded, "paid"));
  settle(retry(claim(again(ran)), 0ms, "callback threw"));

  const TaskRecord second = claim(again(ran));

  EXPECT_EQ(second.info.stage, Stage::on_success);
  EXPECT_EQ(second.info.outcome, Outcome::succeeded);
  EXPECT_EQ(second.result, "paid");
  EXPECT_EQ(second.callback_attempts, 2);
  EXPECT_EQ(second.info.attempts, 1);
}

TEST_P(StoreConformance, HandBackAfterAClaimLeavesNoTraceButTheDelivery) {
  const TaskRecord task = insert(a_task());
  const TaskRecord claimed = claim(task);
  clock().advance(1s);

  EXPECT_TRUE(settle(hand_back(claimed)));

  const TaskRecord back = again(task);
  EXPECT_GT(back.info.version, claimed.info.version);
  TaskRecord wanted = task;
  wanted.info.version = back.info.version;
  wanted.info.deliveries = 1;
  expect_same(back, wanted);
  EXPECT_TRUE(try_claim(ticket(back)));
}

TEST_P(StoreConformance, HandBackAfterACrashKeepsTheCrashAndUncountsTheAttempt) {
  const TaskRecord dead = running(a_task());
  clock().advance(kLease);
  settle(hand_back(claim(dead)));
  const TaskRecord back = again(dead);
  EXPECT_EQ(back.info.attempts, 0);
  EXPECT_EQ(back.info.crashes, 1);
  EXPECT_EQ(back.info.deliveries, 2);
  EXPECT_EQ(back.info.next_at, dead.info.next_at);
}

TEST_P(StoreConformance, HandBackOfACallbackUncountsTheCallback) {
  const TaskRecord ran = running(a_task());
  settle(advance(ran, Stage::on_success, Outcome::succeeded));
  settle(hand_back(claim(again(ran))));
  EXPECT_EQ(again(ran).callback_attempts, 0);
  EXPECT_EQ(again(ran).info.attempts, 1);
  EXPECT_EQ(again(ran).info.stage, Stage::on_success);
}

TEST_P(StoreConformance, ALateFinisherChangesNothing) {
  const TaskRecord slow = running(a_task());
  clock().advance(kLease);
  const TaskRecord rescued = claim(slow, "rescuer");

  for (const Settlement& late :
       {finish(slow), retry(slow, 1s), advance(slow, Stage::on_success, Outcome::succeeded), hand_back(slow)}) {
    EXPECT_FALSE(settle(late));
  }
  expect_same(without_attempts(again(slow)), rescued);
}

TEST_P(StoreConformance, AnExpiredLeaseStillSettlesIfNoInstanceTookTheTask) {
  const TaskRecord slow = running(a_task());
  clock().advance(10 * kLease);
  EXPECT_TRUE(settle(finish(slow)));
  EXPECT_EQ(again(slow).info.outcome, Outcome::succeeded);
}

TEST_P(StoreConformance, ASettlementSentAgainIsNotAppliedTwice) {
  const TaskRecord claimed = running(a_task());
  EXPECT_TRUE(settle(retry(claimed, 5s)));
  const TaskRecord once = again(claimed);
  clock().advance(1s);
  EXPECT_FALSE(settle(retry(claimed, 5s)));
  expect_same(again(claimed), once);
}

TEST_P(StoreConformance, ATaskIsFinishedOnlyOnce) {
  const TaskRecord claimed = running(a_task());
  EXPECT_TRUE(settle(finish(claimed)));
  const TaskRecord once = again(claimed);
  EXPECT_FALSE(settle(finish(claimed, Outcome::rejected)));
  EXPECT_FALSE(settle(finish(once, Outcome::rejected)));
  expect_same(again(claimed), once);
  EXPECT_EQ(count({.finished = true}), 1);
}

TEST_P(StoreConformance, OnlyAClaimedTaskIsSettled) {
  const TaskRecord pending = insert(a_task());
  for (const Settlement& early : {finish(pending), retry(pending, 1s), hand_back(pending)}) EXPECT_FALSE(settle(early));
  expect_same(again(pending), pending);
}

TEST_P(StoreConformance, UnknownTasksAreNotSettled) {
  TaskRecord nobody;
  nobody.info.id = kUnknown;
  EXPECT_FALSE(settle(finish(nobody)));
  EXPECT_EQ(count({.finished = true}), 0);
}

TEST_P(StoreConformance, ATaskTwiceInOneSettleIsSettledOnce) {
  const TaskRecord claimed = running(a_task());
  const std::vector<Settlement> twice{finish(claimed, Outcome::succeeded), finish(claimed, Outcome::rejected)};
  EXPECT_THAT(must(store().settle(twice)).applied, ElementsAre(true, false));
  EXPECT_EQ(again(claimed).info.outcome, Outcome::succeeded);
  EXPECT_EQ(count({.finished = true}), 1);
}

TEST_P(StoreConformance, SettleAnswersForEachInOrder) {
  const TaskRecord done = running(a_task());
  const TaskRecord pending = insert(a_task());
  const TaskRecord later = running(a_task());
  const TaskRecord back = running(a_task());
  const std::vector<Settlement> mixed{finish(done), finish(pending), retry(later, 5s), hand_back(back)};

  EXPECT_THAT(must(store().settle(mixed)).applied, ElementsAre(true, false, true, true));

  EXPECT_EQ(again(done).info.state, TaskState::finished);
  EXPECT_EQ(again(later).info.next_at, now() + 5s);
  EXPECT_EQ(again(back).info.attempts, 0);
}

TEST_P(StoreConformance, AThousandSettlementsFitInOneBatch) {
  std::vector<Settlement> batch;
  for (const TaskRecord& task : claim_all(insert_many(1000, a_task()))) batch.push_back(finish(task));
  EXPECT_THAT(must(store().settle(batch)).applied, ::testing::AllOf(SizeIs(1000), ::testing::Each(true)));
  EXPECT_EQ(count({}), 0);
  EXPECT_EQ(count({.finished = true}), 1000);
}

TEST_P(StoreConformance, EveryChangeOfOwnerGrowsTheVersion) {
  std::vector<std::int64_t> versions;
  const TaskRecord task = insert(a_task());
  const auto note = [&] { versions.push_back(again(task).info.version); };
  note();
  claim(again(task)), note();
  clock().advance(kLease);
  claim(again(task)), note();
  settle(hand_back(again(task))), note();
  claim(again(task)), note();
  settle(retry(again(task), 0ms)), note();
  claim(again(task)), note();
  settle(advance(again(task), Stage::on_success, Outcome::succeeded)), note();
  claim(again(task)), note();
  settle(finish(again(task))), note();
  for (std::size_t i = 1; i < versions.size(); ++i) EXPECT_GT(versions[i], versions[i - 1]) << "change " << i;
}

}  // namespace
}  // namespace easyretry::test
