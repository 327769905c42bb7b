// The last attempts of a task: noted with its settlements and by claims that take it over, kept into history.

#include "conformance/store_conformance.h"
#include "task/attempt_log.h"

namespace easyretry::test {
namespace {

PastAttempt failed(int number, std::string error = "bank busy") {
  return {.number = number,
          .began_at = kStart + number * 1s,
          .ended_at = kStart + number * 1s + 250ms,
          .end = AttemptEnd::failed,
          .by = "worker",
          .error = std::move(error)};
}

PastAttempt succeeded(int number) {
  PastAttempt attempt = failed(number, {});
  attempt.end = AttemptEnd::succeeded;
  return attempt;
}

// "2 failed by worker: bank busy"
std::string text_of(const PastAttempt& attempt) {
  const std::string error = attempt.error.empty() ? "" : ": " + attempt.error;
  return std::to_string(attempt.number) + " " + std::string{to_string(attempt.end)} + " by " + attempt.by + error;
}

std::vector<std::string> texts_of(const TaskRecord& record) {
  std::vector<std::string> texts;
  for (const PastAttempt& attempt : record.info.last_attempts) texts.push_back(text_of(attempt));
  return texts;
}

Settlement with(Settlement settlement, const PastAttempt& attempt) {
  settlement.attempt = task::attempt_line(attempt);
  return settlement;
}

}  // namespace

TEST_P(StoreConformance, AnAttemptIsNotedWithItsRetryAndFoundWithTheTask) {
  const TaskRecord claimed = running(a_task());
  EXPECT_TRUE(settle(with(retry(claimed, 0ms), failed(1))));
  const TaskRecord found = again(claimed);
  ASSERT_THAT(texts_of(found), ElementsAre("1 failed by worker: bank busy"));
  EXPECT_EQ(found.info.last_attempts[0].began_at, kStart + 1s);
  EXPECT_EQ(found.info.last_attempts[0].ended_at, kStart + 1250ms);
}

TEST_P(StoreConformance, ATaskThatSucceedsAtOnceHasNoAttempts) {
  const TaskRecord claimed = running(a_task());
  EXPECT_TRUE(settle(finish(claimed)));
  EXPECT_THAT(again(claimed).info.last_attempts, IsEmpty());
}

TEST_P(StoreConformance, OnlyTheLastEightAttemptsAreKeptNewestFirst) {
  TaskRecord claimed = running(a_task());
  for (int number = 1; number <= 10; ++number) {
    EXPECT_TRUE(settle(with(retry(claimed, 0ms), failed(number, "e" + std::to_string(number)))));
    claimed = claim(again(claimed));
  }
  const auto newest = [](int first) {
    std::vector<std::string> texts;
    for (int number = first; number > first - 8; --number) {
      texts.push_back(std::to_string(number) + " failed by worker: e" + std::to_string(number));
    }
    return texts;
  };
  EXPECT_EQ(texts_of(again(claimed)), newest(10));
  EXPECT_TRUE(settle(with(finish(claimed, Outcome::exhausted, "e11"), failed(11, "e11"))));
  EXPECT_EQ(texts_of(again(claimed)), newest(11)) << "in history";
}

TEST_P(StoreConformance, EndsOfManyKindsInOneBatchAreNotedEachWithItsTask) {
  std::vector<TaskRecord> tasks = claim_all(insert_many(5, a_task()));
  EXPECT_TRUE(settle(with(retry(tasks[4], 0ms), failed(1))));
  tasks[4] = claim(again(tasks[4]));
  const std::vector batch{with(finish(tasks[0], Outcome::exhausted, "no"), failed(1, "no")), finish(tasks[1]),
                          with(finish(tasks[2], Outcome::rejected, "no"), failed(2, "no")),
                          with(advance(tasks[3], Stage::on_success, Outcome::succeeded, "{}"), succeeded(3)),
                          finish(tasks[4])};
  EXPECT_THAT(must(store().settle(batch)).applied, ElementsAre(true, true, true, true, true));
  EXPECT_THAT(texts_of(again(tasks[0])), ElementsAre("1 failed by worker: no"));
  EXPECT_THAT(texts_of(again(tasks[1])), IsEmpty());
  EXPECT_THAT(texts_of(again(tasks[2])), ElementsAre("2 failed by worker: no"));
  EXPECT_EQ(again(tasks[2]).info.outcome, Outcome::rejected);
  EXPECT_EQ(again(tasks[2]).info.last_error, "no");
  EXPECT_THAT(texts_of(again(tasks[3])), ElementsAre("3 succeeded by worker"));
  EXPECT_THAT(texts_of(again(tasks[4])), ElementsAre("1 failed by worker: bank busy")) << "kept by an end without one";
}

TEST_P(StoreConformance, AnInstanceThatDiedLeavesItsAttempt) {
  const TaskRecord task = insert(a_task());
  const TimePoint expired = now() + kLease;
  claim(task, "first");
  clock().advance(kLease);
  const TaskRecord taken_over = claim(again(task), "second");
  const TaskRecord found = again(task);
  ASSERT_THAT(texts_of(found), ElementsAre("1 crashed by first"));
  EXPECT_EQ(found.info.last_attempts[0].began_at, std::nullopt);
  EXPECT_EQ(found.info.last_attempts[0].ended_at, expired);
  EXPECT_TRUE(settle(with(finish(taken_over), succeeded(1))));
  EXPECT_THAT(texts_of(again(task)), ElementsAre("1 succeeded by worker", "1 crashed by first"));
}

TEST_P(StoreConformance, AnInstanceThatDiedBeforeTheAttemptSurelyBeganHasLostIt) {
  const TaskRecord task = insert(a_task());
  const std::vector tickets{ticket(task)};
  must(store().claim({.tickets = tickets, .owner = "first", .lease = kLease, .begin = false}));
  clock().advance(kLease);
  claim(again(task), "second");
  EXPECT_THAT(texts_of(again(task)), ElementsAre("1 lost by first"));
}

TEST_P(StoreConformance, ACallbackIsNoAttempt) {
  const TaskRecord claimed = running(a_task());
  EXPECT_TRUE(settle(advance(claimed, Stage::on_success, Outcome::succeeded)));
  claim(again(claimed), "first");
  clock().advance(kLease);
  claim(again(claimed), "second");
  EXPECT_EQ(again(claimed).info.crashes, 1);
  EXPECT_THAT(texts_of(again(claimed)), IsEmpty());
}

TEST_P(StoreConformance, ASettlementThatComesTooLateNotesNoAttempt) {
  const TaskRecord claimed = running(a_task());
  EXPECT_TRUE(settle(with(retry(claimed, 0ms), failed(1))));
  EXPECT_FALSE(settle(with(retry(claimed, 0ms), failed(1))));
  EXPECT_THAT(texts_of(again(claimed)), SizeIs(1));
}

TEST_P(StoreConformance, AttemptsOutliveAHandBackARevisionARenewalAndAnEndByAUser) {
  const TaskRecord task = running(a_task());
  EXPECT_TRUE(settle(with(retry(task, 0ms), failed(1))));
  EXPECT_TRUE(settle(hand_back(claim(again(task)))));
  EXPECT_TRUE(revise({.ticket = ticket(again(task)), .delay = 0ms}));
  EXPECT_TRUE(renew(claim(again(task)), kLease));
  EXPECT_THAT(texts_of(again(task)), ElementsAre("1 failed by worker: bank busy"));
  EXPECT_TRUE(cancel(task.info.id));
  EXPECT_EQ(again(task).info.state, TaskState::finished);
  EXPECT_THAT(texts_of(again(task)), ElementsAre("1 failed by worker: bank busy"));
}

TEST_P(StoreConformance, ARequeuedTaskBeginsWithoutAttempts) {
  const TaskRecord claimed = running(a_task());
  EXPECT_TRUE(settle(with(finish(claimed, Outcome::exhausted, "no"), failed(1, "no"))));
  const TaskId fresh = requeue(claimed.info.id).value();
  EXPECT_THAT(texts_of(record(fresh)), IsEmpty());
  EXPECT_THAT(texts_of(again(claimed)), SizeIs(1));
}

TEST_P(StoreConformance, AnErrorOfAnAttemptMayHaveAnyCharactersAndIsCut) {
  const TaskRecord claimed = running(a_task());
  const std::string odd = "line 1\nline 2\ttab 'quote' \"double\" back\\slash {rows} $1 ?1 错";
  EXPECT_TRUE(settle(with(retry(claimed, 0ms), failed(1, odd))));
  EXPECT_TRUE(settle(with(retry(claim(again(claimed)), 0ms), failed(2, std::string(5000, 'x')))));
  const TaskRecord found = again(claimed);
  ASSERT_THAT(found.info.last_attempts, SizeIs(2));
  EXPECT_EQ(found.info.last_attempts[1].error, odd);
  EXPECT_EQ(found.info.last_attempts[0].error, std::string(297, 'x') + "…");
}

TEST_P(StoreConformance, ListsAndClaimsComeWithoutAttempts) {
  const TaskRecord task = running(a_task());
  EXPECT_TRUE(settle(with(retry(task, 0ms), failed(1))));
  EXPECT_THAT(texts_of(must(store().list({.name_space = kNamespace})).at(0)), IsEmpty());
  EXPECT_THAT(texts_of(claim(again(task))), IsEmpty());
}

TEST_P(DurableStore, AttemptsAreThereAfterARestart) {
  const TaskRecord task = running(a_task());
  EXPECT_TRUE(settle(with(retry(task, 0ms), failed(1))));
  reopen();
  EXPECT_THAT(texts_of(again(task)), ElementsAre("1 failed by worker: bank busy"));
}

}  // namespace easyretry::test
