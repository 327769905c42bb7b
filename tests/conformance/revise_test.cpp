#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

const task::RetryRules kPatient{
    .max_attempts = 40, .max_duration = 2h, .deadline = kStart + 48h, .backoff = "fixed 10m"};

Revision to_now(const TaskRecord& task) {
  return {.ticket = ticket(task), .delay = 0ms};
}

Revision to_patience(const TaskRecord& task) {
  return {.ticket = ticket(task), .rules = kPatient};
}

// As a revision should leave it.
TaskRecord revised(TaskRecord task) {
  ++task.info.version;
  return task;
}

TEST_P(StoreConformance, ReviseCarriesTheStoresClock) {
  clock().advance(1234ms);
  EXPECT_EQ(must(store().revise({})).now, now());
  EXPECT_THAT(must(store().revise({})).applied, IsEmpty());
}

TEST_P(StoreConformance, ATaskThatWaitsBecomesDueAtOnce) {
  const TaskRecord waiting = insert(a_task().due_in(1h));
  clock().advance(1s);
  EXPECT_TRUE(revise(to_now(waiting)));

  TaskRecord wanted = revised(waiting);
  wanted.info.next_at = now();
  expect_same(again(waiting), wanted);
  const LoadReply due = load_shard_of(waiting);
  ASSERT_THAT(due.tasks, SizeIs(1)) << "scans find it at its new time, and once";
  EXPECT_EQ(due.tasks[0], ticket(wanted));
  EXPECT_EQ(due.tasks[0].due, now());
  EXPECT_EQ(claim(wanted).info.attempts, 1);
}

TEST_P(StoreConformance, ATaskThatIsDueCanBePutOff) {
  const TaskRecord due = insert(a_task());
  EXPECT_TRUE(revise({.ticket = ticket(due), .delay = 10min}));
  EXPECT_EQ(again(due).info.next_at, now() + 10min);
  EXPECT_THAT(load_shard_of(due).tasks, IsEmpty());
  EXPECT_FALSE(try_claim(ticket(again(due))));
  clock().advance(10min);
  EXPECT_THAT(load_shard_of(due).tasks, SizeIs(1));
  claim(again(due));
}

TEST_P(StoreConformance, OtherRulesLeaveAllElseAsItWas) {
  const TaskRecord waiting =
      insert(a_task().due_in(1h).payload("[42]").rules({.max_attempts = 3, .deadline = {}, .backoff = {}}));
  EXPECT_TRUE(revise(to_patience(waiting)));

  TaskRecord wanted = revised(waiting);
  wanted.rules = kPatient;
  expect_same(again(waiting), wanted);
  clock().advance(1h);
  EXPECT_EQ(claim(wanted).rules, kPatient) << "whoever runs it goes by the new ones";
}

TEST_P(StoreConformance, RulesCanBeTakenAway) {
  const TaskRecord waiting = insert(a_task().rules(kPatient));
  EXPECT_TRUE(revise({.ticket = ticket(waiting), .rules = task::RetryRules{}}));
  EXPECT_EQ(again(waiting).rules, task::RetryRules{});
}

TEST_P(StoreConformance, BothAreRevisedAtOnce) {
  const TaskRecord waiting = insert(a_task().due_in(1h));
  EXPECT_TRUE(revise({.ticket = ticket(waiting), .delay = 5s, .rules = kPatient}));
  EXPECT_EQ(again(waiting).rules, kPatient);
  EXPECT_EQ(again(waiting).info.next_at, now() + 5s);
  EXPECT_EQ(again(waiting).info.version, waiting.info.version + 1);
}

TEST_P(StoreConformance, EarlierFailuresStayKnown) {
  const TaskRecord ran = running(a_task());
  settle(retry(ran, 1h, "bank busy"));
  const TaskRecord failed = again(ran);
  clock().advance(1s);
  EXPECT_TRUE(revise({.ticket = ticket(failed), .delay = 0ms, .rules = kPatient}));

  TaskRecord wanted = revised(failed);
  wanted.info.next_at = now();
  wanted.rules = kPatient;
  expect_same(again(failed), wanted);
}

TEST_P(StoreConformance, ACallbackThatWaitsCanBeRepeatedSooner) {
  const TaskRecord ran = running(a_task());
  Settlement callback = advance(ran, Stage::on_success, Outcome::succeeded, "paid");
  callback.delay = 1h;
  settle(callback);
  EXPECT_TRUE(revise(to_now(again(ran))));
  const TaskRecord told = claim(again(ran));
  EXPECT_EQ(told.info.stage, Stage::on_success);
  EXPECT_EQ(told.result, "paid");
  EXPECT_EQ(told.callback_attempts, 1);
}

TEST_P(StoreConformance, ATicketFromBeforeTheRevisionIsWorthless) {
  const TaskRecord read_ahead = insert(a_task());
  EXPECT_TRUE(revise(to_patience(read_ahead)));
  EXPECT_FALSE(try_claim(ticket(read_ahead)));
  EXPECT_FALSE(revise(to_now(read_ahead))) << "another one that has not seen this one";
  claim(again(read_ahead));
}

TEST_P(StoreConformance, OnlyTheVersionSeenIsRevised) {
  const TaskRecord waiting = insert(a_task());
  for (const int off : {-1, 1}) {
    Revision wrong = to_patience(waiting);
    wrong.ticket.version += off;
    EXPECT_FALSE(revise(wrong));
  }
  expect_same(again(waiting), waiting);
}

TEST_P(StoreConformance, ALeasedTaskIsNotRevised) {
  const TaskRecord held = running(a_task());
  EXPECT_FALSE(revise({.ticket = ticket(held), .delay = 0ms, .rules = kPatient}));
  expect_same(again(held), held);
  EXPECT_TRUE(settle(finish(held))) << "its worker has lost nothing";
}

TEST_P(StoreConformance, ATaskOfADeadWorkerIsLeftToTheClaim) {
  const TaskRecord held = running(a_task());
  clock().advance(kLease + 1s);
  EXPECT_FALSE(revise({.ticket = ticket(held), .delay = 1h, .rules = kPatient}));
  EXPECT_EQ(claim(held, "rescuer").info.crashes, 1);
}

TEST_P(StoreConformance, AnEndedTaskIsNotRevised) {
  const TaskRecord done = finished(a_task());
  EXPECT_FALSE(revise({.ticket = ticket(done), .delay = 0ms, .rules = kPatient}));
  EXPECT_FALSE(revise({.ticket = {kUnknown, 1}, .delay = 0ms}));
  expect_same(again(done), done);
}

TEST_P(StoreConformance, ARevisionSentAgainChangesNothing) {
  const TaskRecord waiting = insert(a_task().due_in(1h));
  EXPECT_TRUE(revise(to_now(waiting)));
  const TaskRecord once = again(waiting);
  clock().advance(1s);
  EXPECT_FALSE(revise(to_now(waiting)));
  expect_same(again(waiting), once);
}

TEST_P(StoreConformance, ReviseAnswersForEachInOrder) {
  const TaskRecord waiting = insert(a_task());
  const TaskRecord done = finished(a_task());
  const TaskRecord held = running(a_task());
  const TaskRecord elsewhere = insert(a_task().name_space("bank"));
  const std::vector<Revision> revisions{to_now(done),    to_patience(waiting),   to_now(held),
                                        to_now(waiting), to_patience(elsewhere), to_now(revised(waiting))};
  EXPECT_THAT(must(store().revise(revisions)).applied, ElementsAre(false, true, false, false, true, true));
  EXPECT_EQ(again(waiting).info.version, waiting.info.version + 2);
  EXPECT_EQ(again(waiting).rules, kPatient);
  EXPECT_EQ(again(elsewhere).rules, kPatient);
}

TEST_P(StoreConformance, ARevisionIsNoTaskToTheCounters) {
  const TaskRecord waiting = insert(a_task().due_in(1h));
  const Counts before = must(store().counts(kNamespace));
  EXPECT_TRUE(revise({.ticket = ticket(waiting), .delay = 0ms, .rules = kPatient}));
  EXPECT_EQ(must(store().counts(kNamespace)), before);
}

TEST_P(StoreConformance, ARevisedTaskKeepsItsKey) {
  const TaskRecord waiting = insert(a_task().key("pay:42").due_in(1h));
  revise(to_now(waiting));
  const Inserted met = put(a_task().key("pay:42"));
  EXPECT_FALSE(met.created);
  EXPECT_EQ(met.id, waiting.info.id);
  EXPECT_THAT(list({.key = "pay:42"}), ElementsAre(waiting.info.id));
}

TEST_P(DurableStore, ARevisionOutlivesTheProcess) {
  const TaskRecord waiting = insert(a_task().due_in(1h));
  revise({.ticket = ticket(waiting), .delay = 5s, .rules = kPatient});
  const TaskRecord before = again(waiting);
  reopen();
  expect_same(again(waiting), before);
}

}  // namespace
}  // namespace easyretry::test
