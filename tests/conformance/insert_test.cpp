#include <set>
#include <utility>

#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

TEST_P(StoreConformance, InsertStoresEveryFieldOfTheTask) {
  const task::RetryRules rules{
      .max_attempts = 7, .max_duration = 90min, .deadline = now() + 24h, .backoff = "fixed 5s"};
  const NewTask task =
      a_task().key("pay:42").handler("pay").payload("[42]").payload_version(3).business("order", "42").rules(rules);

  const TaskRecord stored = record(put(task).id);

  EXPECT_EQ(stored.info.name_space, task.name_space);
  EXPECT_EQ(stored.info.key, "pay:42");
  EXPECT_EQ(stored.info.handler, "pay");
  EXPECT_EQ(stored.info.business_type, "order");
  EXPECT_EQ(stored.info.business_id, "42");
  EXPECT_EQ(stored.payload, "[42]");
  EXPECT_EQ(stored.payload_version, 3);
  EXPECT_EQ(stored.rules, rules);
}

TEST_P(StoreConformance, ANewTaskIsPendingAndUntouched) {
  const TaskRecord stored = insert(a_task());
  EXPECT_EQ(stored.info.state, TaskState::pending);
  EXPECT_EQ(stored.info.stage, Stage::run);
  EXPECT_FALSE(stored.info.outcome);
  EXPECT_EQ(stored.info.attempts, 0);
  EXPECT_EQ(stored.info.crashes, 0);
  EXPECT_EQ(stored.info.deliveries, 0);
  EXPECT_EQ(stored.callback_attempts, 0);
  EXPECT_EQ(stored.info.generation, 0);
  EXPECT_EQ(stored.info.created_at, now());
  EXPECT_FALSE(stored.info.finished_at);
  EXPECT_FALSE(stored.info.first_failed_at);
  EXPECT_FALSE(stored.info.last_failed_at);
  EXPECT_EQ(stored.info.last_error, "");
  EXPECT_FALSE(stored.info.no_handler);
  EXPECT_EQ(stored.result, "");
  EXPECT_EQ(stored.locked_by, "");
}

TEST_P(StoreConformance, InsertAnswersWithTheTicketAndDueTimeOfTheTask) {
  const Inserted inserted = put(a_task().due_in(5s));
  const TaskRecord stored = record(inserted.id);
  EXPECT_TRUE(inserted.created);
  EXPECT_EQ(inserted.version, stored.info.version);
  EXPECT_EQ(inserted.next_at, stored.info.next_at);
  EXPECT_EQ(stored.info.next_at, now() + 5s);
}

TEST_P(StoreConformance, InsertCarriesTheStoresClock) {
  clock().advance(1234ms);
  EXPECT_EQ(must(store().insert({})).now, now());
  const NewTask task = a_task();
  EXPECT_EQ(must(store().insert({&task, 1})).now, now());
}

TEST_P(StoreConformance, AnAbsoluteDueTimeGoesBeforeTheDelay) {
  EXPECT_EQ(insert(a_task().due_at(kStart + 7h).due_in(5s)).info.next_at, kStart + 7h);
}

TEST_P(StoreConformance, ADueTimeMayLieInThePastOrFarAway) {
  const TimePoint year_9999{std::chrono::sys_days{std::chrono::year{9999} / 12 / 31}};
  for (const TimePoint due : {TimePoint{} - 1h, TimePoint{}, now() - 1h, year_9999}) {
    EXPECT_EQ(insert(a_task().due_at(due)).info.next_at, due);
  }
  EXPECT_EQ(insert(a_task().due_in(-5s)).info.next_at, now() - 5s);
}

TEST_P(StoreConformance, InsertAnswersForEachTaskInOrder) {
  std::vector<NewTask> tasks;
  for (int i = 0; i < 300; ++i) tasks.push_back(a_task().payload(std::to_string(i)));
  const auto reply = must(store().insert(tasks));
  ASSERT_THAT(reply.tasks, SizeIs(tasks.size()));
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_TRUE(reply.tasks[i].created);
    EXPECT_EQ(record(reply.tasks[i].id).payload, tasks[i].payload);
  }
}

TEST_P(StoreConformance, AnEmptyInsertStoresNothing) {
  EXPECT_THAT(must(store().insert({})).tasks, IsEmpty());
  EXPECT_EQ(count({}), 0);
}

TEST_P(StoreConformance, ATaskOfALiveKeyIsNotStoredAgain) {
  const TaskRecord first = insert(a_task().key("pay:42").payload("first").due_in(5s));
  clock().advance(1s);

  const Inserted second = put(a_task().key("pay:42").handler("other").payload("second").business("order", "7"));

  EXPECT_FALSE(second.created);
  EXPECT_EQ(second.id, first.info.id);
  EXPECT_EQ(second.version, first.info.version);
  EXPECT_EQ(second.next_at, first.info.next_at);
  expect_same(again(first), first);
  EXPECT_EQ(count({}), 1);
}

TEST_P(StoreConformance, ALiveTaskMayBeGivenNewRules) {
  const TaskRecord first = running(a_task().key("pay:42"));
  NewTask patient = a_task().key("pay:42");
  patient.on_duplicate = OnDuplicate::update_policy;
  patient.rules = {99, 5h, kStart + 24h, "fixed delay=1m"};
  EXPECT_EQ(put(patient).id, first.info.id);
  TaskRecord wanted = first;
  wanted.rules = patient.rules;
  expect_same(again(first), wanted);
}

TEST_P(StoreConformance, ABatchThatMustNotMeetALiveTaskIsStoredWholeOrNotAtAll) {
  const TaskRecord first = insert(a_task().key("pay:42"));
  NewTask strict = a_task().key("pay:42");
  strict.on_duplicate = OnDuplicate::reject;
  const std::vector<NewTask> batch{a_task(), strict, a_task()};
  const auto refused = store().insert(batch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::already_exists);
  EXPECT_THAT(refused.error().detail, ::testing::HasSubstr(to_string(first.info.id)));
  EXPECT_EQ(count({}), 1);

  strict.key = "twin";
  const std::vector<NewTask> twins{a_task(), a_task().key("twin"), strict};
  EXPECT_EQ(store().insert(twins).error().code, Errc::already_exists);
  EXPECT_EQ(count({}), 1);

  strict.key = "pay:42";
  settle(finish(claim(first), Outcome::succeeded));
  EXPECT_TRUE(put(strict).created) << "the key is free again";
}

TEST_P(StoreConformance, ATaskKeepsItsAttemptsFromBeforeItWasStored) {
  NewTask task = a_task().due_in(5s);
  task.attempts = 1;
  task.error = "the first call failed";
  task.tags = {"vip", "a \"quoted\" tag"};
  task.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const TaskRecord stored = insert(task);
  EXPECT_EQ(stored.info.attempts, 1);
  EXPECT_EQ(stored.info.last_error, task.error);
  EXPECT_EQ(stored.info.first_failed_at, now());
  EXPECT_EQ(stored.info.last_failed_at, now());
  EXPECT_EQ(stored.info.tags, task.tags);
  EXPECT_EQ(stored.info.traceparent, task.traceparent);
  clock().advance(5s);
  EXPECT_EQ(claim(stored).info.attempts, 2);
}

TEST_P(StoreConformance, ATaskMayBeStoredAsRunningByItsSubmitter) {
  NewTask task = a_task();
  task.owner = "caller";
  task.lease = kLease;
  const TaskRecord stored = insert(task);
  EXPECT_EQ(stored.info.state, TaskState::running);
  EXPECT_EQ(stored.info.attempts, 1);
  EXPECT_EQ(stored.locked_by, "caller");
  EXPECT_EQ(stored.lease_until, now() + kLease);
  EXPECT_FALSE(try_claim(ticket(stored), "thief"));
  EXPECT_TRUE(settle(retry(stored, 1s)));
  EXPECT_EQ(again(stored).info.state, TaskState::pending);
}

TEST_P(StoreConformance, ATaskStoredAsRunningCountsThisAttemptAndTheEarlierOnes) {
  NewTask task = a_task();
  task.attempts = 2;
  task.owner = "caller";
  task.lease = kLease;
  const TaskRecord stored = insert(task);
  EXPECT_EQ(stored.info.attempts, 3);
  EXPECT_EQ(stored.info.deliveries, 3);
}

TEST_P(StoreConformance, ATaskWhoseCallerDiedIsRunByAnotherAndCountedAsACrash) {
  NewTask task = a_task();
  task.owner = "caller";
  task.lease = kLease;
  const TaskRecord stored = insert(task);
  clock().advance(kLease);
  const TaskRecord rescued = claim(stored, "rescuer");
  EXPECT_EQ(rescued.info.crashes, 1);
  EXPECT_FALSE(settle(finish(stored, Outcome::succeeded))) << "the caller was only slow";
}

TEST_P(StoreConformance, ARunningTaskStillOwnsItsKey) {
  const TaskRecord first = running(a_task().key("pay:42"));
  const Inserted second = put(a_task().key("pay:42"));
  EXPECT_FALSE(second.created);
  EXPECT_EQ(second.id, first.info.id);
  EXPECT_EQ(second.version, first.info.version);
  expect_same(again(first), first);
}

TEST_P(StoreConformance, AnInsertSentAgainStoresNothingTwice) {
  const std::vector<NewTask> tasks{a_task(), a_task()};
  const auto first = must(store().insert(tasks));
  const auto second = must(store().insert(tasks));
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_FALSE(second.tasks[i].created);
    EXPECT_EQ(second.tasks[i].id, first.tasks[i].id);
  }
  EXPECT_EQ(count({}), 2);
}

TEST_P(StoreConformance, TwoTasksOfOneKeyInOneInsertAreOneTask) {
  const std::vector<NewTask> tasks{a_task().key("twin").payload("first"), a_task(),
                                   a_task().key("twin").payload("2nd")};
  const auto reply = must(store().insert(tasks));
  EXPECT_TRUE(reply.tasks[0].created);
  EXPECT_TRUE(reply.tasks[1].created);
  EXPECT_FALSE(reply.tasks[2].created);
  EXPECT_EQ(reply.tasks[2].id, reply.tasks[0].id);
  EXPECT_EQ(record(reply.tasks[0].id).payload, "first");
  EXPECT_EQ(count({}), 2);
}

TEST_P(StoreConformance, NewTasksOfALargeBatchAreStoredAndDuplicatesFound) {
  const TaskRecord there = insert(a_task().key("there"));
  for (const char* round : {"first", "second"}) {
    std::vector<NewTask> batch;
    for (int i = 0; i < 300; ++i) batch.push_back(a_task());
    batch[7].key = batch[250].key = std::string{"twin "} + round;
    batch[123].key = "there";
    const auto answers = must(store().insert(batch)).tasks;
    for (std::size_t i = 0; i < batch.size(); ++i) EXPECT_EQ(answers[i].created, i != 123 && i != 250) << i;
    EXPECT_EQ(answers[123].id, there.info.id);
    EXPECT_EQ(answers[250].id, answers[7].id);
    EXPECT_EQ(record(answers[299].id).info.key, batch[299].key);
  }
  EXPECT_EQ(count({}), 1 + 2 * 298);
}

TEST_P(StoreConformance, AKeyIsFreeAgainWhenItsTaskHasEnded) {
  const TaskRecord ended = finished(a_task().key("pay:42"));
  const TaskRecord next = insert(a_task().key("pay:42"));
  EXPECT_NE(next.info.id, ended.info.id);
  expect_same(again(ended), ended);
}

TEST_P(StoreConformance, EachSpaceHasItsOwnKeys) {
  const TaskRecord ours = insert(a_task().name_space("shop").key("pay:42"));
  const TaskRecord theirs = insert(a_task().name_space("bank").key("pay:42"));
  EXPECT_NE(ours.info.id, theirs.info.id);
}

TEST_P(StoreConformance, KeysThatDifferInCaseOrTrailingSpaceAreDifferent) {
  insert(a_task().key("pay:a"));
  insert(a_task().key("pay:A"));
  insert(a_task().key("pay:a "));
  EXPECT_EQ(count({}), 3);
}

TEST_P(StoreConformance, TheIdTellsTheShard) {
  const int shards = store().info().total_shards;
  const TaskRecord by_business = insert(a_task().key("k1").business("order", "42"));
  const TaskRecord by_key = insert(a_task().key("k2"));
  EXPECT_EQ(shard(by_business), task::shard_for("42", "k1", shards));
  EXPECT_EQ(shard(by_key), task::shard_for("", "k2", shards));
}

TEST_P(StoreConformance, OneShardHoldsEverything) {
  start({.total_shards = 1});
  EXPECT_EQ(store().info().total_shards, 1);
  for (const TaskRecord& task : insert_many(5, a_task())) EXPECT_EQ(shard(task), ShardId{0});
}

TEST_P(StoreConformance, ThousandsOfTasksInOneMillisecondGetDistinctIds) {
  start({.total_shards = 1});  // 1,024 sequence numbers a millisecond and shard
  std::vector<NewTask> tasks;
  for (int i = 0; i < 3000; ++i) tasks.push_back(a_task());
  std::set<TaskId> ids;
  for (const Inserted& inserted : must(store().insert(tasks)).tasks) ids.insert(inserted.id);
  EXPECT_EQ(ids.size(), tasks.size());
}

TEST_P(StoreConformance, AClockThatWentBackGivesNoIdTwice) {
  const auto before = insert_many(20, a_task());
  clock().set_wall(now() - 1h);
  const auto after = insert_many(20, a_task());
  EXPECT_EQ(count({}), 40);
  for (const TaskRecord& task : before) expect_same(again(task), task);
  for (const TaskRecord& task : after) expect_same(again(task), task);
}

TEST_P(StoreConformance, APayloadOfAMebibyteComesBackWhole) {
  std::string payload(1 << 20, 'x');
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<char>(i * 31 % 251);
  EXPECT_TRUE(insert(a_task().payload(payload)).payload == payload);
}

TEST_P(StoreConformance, APayloadMayHoldAnyByte) {
  std::string payload;
  for (int byte = 0; byte < 256; ++byte) payload.push_back(static_cast<char>(byte));
  const TaskRecord stored = insert(a_task().payload(payload));
  EXPECT_EQ(stored.payload, payload);
  EXPECT_EQ(claim(stored).payload, payload);
}

TEST_P(StoreConformance, APayloadMayBeEmpty) {
  EXPECT_EQ(insert(a_task().payload("")).payload, "");
}

TEST_P(StoreConformance, EveryTextMayBeUnicode) {
  const TaskRecord stored = insert(
      a_task().name_space("商店").key("订单-四十二").handler("paiement-é").payload("🦀").business("тип", "id-ß"));
  EXPECT_EQ(stored.info.name_space, "商店");
  EXPECT_EQ(stored.info.key, "订单-四十二");
  EXPECT_EQ(stored.info.handler, "paiement-é");
  EXPECT_EQ(stored.payload, "🦀");
  EXPECT_EQ(stored.info.business_type, "тип");
  EXPECT_EQ(stored.info.business_id, "id-ß");
}

TEST_P(StoreConformance, TextsWithQuotesAndWildcardsAreOnlyTexts) {
  const std::string nasty = "o'brien\"; DROP TABLE retry_task; -- %_\\";
  const TaskRecord stored = insert(a_task().key(nasty).handler(nasty).business(nasty, nasty));
  EXPECT_EQ(stored.info.key, nasty);
  EXPECT_THAT(list({.key = nasty, .handler = nasty, .business_id = nasty}), ElementsAre(stored.info.id));
}

TEST_P(StoreConformance, ATaskWithoutSpaceKeyOrHandlerIsRefusedWithItsBatch) {
  const std::vector<std::pair<std::string, NewTask>> wrong{
      {"namespace", a_task().name_space("")}, {"key", a_task().key("")}, {"handler", a_task().handler("")}};
  for (const auto& [field, task] : wrong) {
    const std::vector<NewTask> batch{a_task(), task, a_task()};
    const auto reply = store().insert(batch);
    ASSERT_FALSE(reply.has_value()) << field;
    EXPECT_EQ(reply.error().code, Errc::invalid_argument);
    EXPECT_THAT(reply.error().detail, ::testing::HasSubstr(field));
  }
  EXPECT_EQ(count({}), 0);
}

}  // namespace
}  // namespace easyretry::test
