#include "unit/mysql/support.h"

namespace easyretry::storage::mysql {
namespace {

std::vector<TaskId> ids_of(const std::vector<TaskRecord>& rows) {
  std::vector<TaskId> ids;
  for (const TaskRecord& row : rows) ids.push_back(row.info.id);
  return ids;
}

TEST_F(MysqlTest, EveryFieldOfANewTaskComesBack) {
  task::NewTask task = a_task().business("order", "42").payload(std::string{"\0'\\\"\n\r\x1a\xff\xfe", 9});
  task.tags = {"vip", "中文"};
  task.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  task.rules = {.max_attempts = 7, .max_duration = 3h, .deadline = kMarch + 24h, .backoff = "1s x2"};
  task.payload_version = 4;
  task.error = "订单 😀 o'brien";
  task.attempts = 1;
  const TaskRecord stored = inserted(task);
  const TaskRecord read = live(stored.info.id).at(0);
  EXPECT_EQ(read.payload, task.payload);
  EXPECT_EQ(read.payload_version, 4);
  EXPECT_EQ(read.rules, task.rules);
  EXPECT_EQ(read.info.tags, task.tags);
  EXPECT_EQ(read.info.traceparent, task.traceparent);
  EXPECT_EQ(read.info.last_error, task.error);
  EXPECT_EQ(read.info.first_failed_at, kMarch);
  EXPECT_EQ(read.info.last_failed_at, kMarch);
  EXPECT_EQ(read.info.created_at, kMarch);
  EXPECT_EQ(read.info.next_at, kMarch);
  EXPECT_EQ(read.info.business_type, "order");
  EXPECT_EQ(read.info.business_id, "42");
  EXPECT_EQ(read.info.attempts, 1);
  EXPECT_EQ(read.info.version, 1);
  EXPECT_EQ(read.info.state, TaskState::pending);
  EXPECT_EQ(read.info.outcome, std::nullopt);
}

TEST_F(MysqlTest, ATaskStoredAsRunningHasItsOwnerAndLease) {
  task::NewTask task = a_task();
  task.owner = "worker";
  task.lease = 30s;
  const TaskRecord read = live(inserted(task).info.id).at(0);
  EXPECT_EQ(read.info.state, TaskState::running);
  EXPECT_EQ(read.locked_by, "worker");
  EXPECT_EQ(read.lease_until, kMarch + 30s);
}

TEST_F(MysqlTest, TimesReachToBothEndsOfTime) {
  for (const TimePoint due : {TimePoint::min(), TimePoint{}, TimePoint::max()}) {
    EXPECT_EQ(live(inserted(a_task().due_at(due)).info.id).at(0).info.next_at, due);
  }
}

TEST_F(MysqlTest, AKeyThatIsLiveIsLeftOutAndUnchanged) {
  const TaskRecord first = inserted(a_task().key("pay:1").payload("first"));
  const std::vector<TaskRecord> batch{row(a_task().key("pay:2")), row(a_task().key("pay:1").payload("second")),
                                      row(a_task().key("pay:0"))};
  EXPECT_THAT(insert(batch), UnorderedElementsAreArray({batch[0].info.id, batch[2].info.id}));
  EXPECT_EQ(live(first.info.id).at(0).payload, "first");
  EXPECT_EQ(live_count(), 3);
}

TEST_F(MysqlTest, OfTwoRowsWithOneKeyTheFirstIsStored) {
  const std::vector<TaskRecord> batch{row(a_task().key("pay:1")), row(a_task().key("pay:1"))};
  EXPECT_THAT(insert(batch), ElementsAre(batch[0].info.id));
}

TEST_F(MysqlTest, AnIdThatIsTakenIsLeftOut) {
  const TaskRecord first = inserted(a_task().payload("first"));
  TaskRecord second = row(a_task());
  second.info.id = first.info.id;
  const TaskRecord third = row(a_task());
  EXPECT_THAT(insert({second, third}), ElementsAre(third.info.id));
  EXPECT_EQ(live(first.info.id).at(0).payload, "first");
}

TEST_F(MysqlTest, AnExistingRowWithTheSameIdAndKeyIsNotTakenForOurs) {
  const TaskRecord first = inserted(a_task());
  const TaskRecord other = row(a_task());
  EXPECT_THAT(insert({first, other}), ElementsAre(other.info.id));
  EXPECT_THAT(insert({first, other}), IsEmpty());
  EXPECT_EQ(live_count(), 2);
}

TEST_F(MysqlTest, AnIdOfATaskThatHasEndedIsLeftOut) {
  const TaskRecord running = claimed(a_task());
  finish(settlement_of(ticket_of(running), Settlement::Kind::finish));
  TaskRecord second = row(a_task());
  second.info.id = running.info.id;
  const std::vector<TaskRecord> batch{second, row(a_task())};
  EXPECT_THAT(in_transaction([&] { return session->insert(kTable, kHistory, batch); }), ElementsAre(batch[1].info.id));
}

TEST_F(MysqlTest, KeysAreComparedByteByByte) {
  std::vector<TaskRecord> batch;
  for (const char* key : {"a", "A", "a ", "\xC3\xA4", "a\xCC\x88", "\xff", "ss", "\xC3\x9F"}) {
    batch.push_back(row(a_task().key(key)));
  }
  EXPECT_THAT(insert(batch), UnorderedElementsAreArray(ids_of(batch)));
  const auto found = session->live_keys(kTable, batch);
  EXPECT_EQ(found.size(), batch.size());
  EXPECT_EQ(session->count({TaskQuery{.key = "a"}, kTable, false}), 1);
}

TEST_F(MysqlTest, ANamespaceHasItsOwnKeys) {
  const TaskRecord shop = inserted(a_task().key("k"));
  const TaskRecord bank = inserted(a_task().name_space("bank").key("k"));
  const auto found = session->live_keys(kTable, std::vector{bank});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name_space, "bank");
  EXPECT_EQ(found[0].key, "k");
  EXPECT_EQ(found[0].task.id, bank.info.id);
  EXPECT_EQ(found[0].task.version, 1);
  EXPECT_EQ(found[0].task.next_at, kMarch);
  EXPECT_EQ(session->live_keys(kTable, std::vector{shop, bank}).size(), 2U);
}

TEST_F(MysqlTest, ABatchLongerThanAStatementIsStoredWhole) {
  std::vector<TaskRecord> batch;
  for (int i = 0; i < 1203; ++i) batch.push_back(row(a_task()));
  EXPECT_THAT(insert(batch), UnorderedElementsAreArray(ids_of(batch)));
  EXPECT_EQ(session->live_keys(kTable, batch).size(), batch.size());
  EXPECT_EQ(session->find(kTable, false, ids_of(batch)).size(), batch.size());
}

TEST_F(MysqlTest, ABatchLargerThanAPacketIsStoredWhole) {
  std::vector<TaskRecord> batch;
  for (int i = 0; i < 24; ++i) batch.push_back(row(a_task().payload(std::string(1 << 20, static_cast<char>(i)))));
  EXPECT_THAT(insert(batch), UnorderedElementsAreArray(ids_of(batch)));
  for (int i : {0, 10, 23}) EXPECT_EQ(live(batch[i].info.id).at(0).payload, batch[i].payload);
}

TEST_F(MysqlTest, ATaskLargerThanAPacketIsBadDataAndTheRemedyIsNamed) {
  const auto [what, why] = trouble([&] { insert({row(a_task().payload(std::string(17 << 20, 'x')))}); });
  EXPECT_EQ(what, Trouble::bad_data);
  EXPECT_THAT(why, HasSubstr("max_allowed_packet"));
  inserted(a_task());  // the session still works
}

TEST_F(MysqlTest, AValueTooLongIsBadDataThatNamesColumnLengthAndLimit) {
  const auto [what, why] = trouble([&] { insert({row(a_task().key(std::string(513, 'k')))}); });
  EXPECT_EQ(what, Trouble::bad_data);
  EXPECT_THAT(why, HasSubstr("task_key has 513 bytes, but its column allows 512"));
  inserted(a_task().key(std::string(512, 'k')));
  const auto owner = trouble([&] { claim(*session, {}, kMarch, std::string(513, 'o')); });
  EXPECT_THAT(owner.second, HasSubstr("locked_by has 513 bytes"));
}

TEST_F(MysqlTest, InvalidUtf8InAMessageIsReplaced) {
  task::NewTask task = a_task();
  task.error = "a\xff\xC3(b\xE4\xBD";
  EXPECT_EQ(live(inserted(task).info.id).at(0).info.last_error, "a\uFFFD\uFFFD(b\uFFFD\uFFFD");
}

TEST_F(MysqlTest, ARolledBackInsertIsNotThere) {
  session->begin(Promise::kept);
  const TaskRecord record = row(a_task());
  session->insert(kTable, {}, {&record, 1});
  session->roll_back();
  EXPECT_EQ(live_count(), 0);
  EXPECT_FALSE(session->broken());
}

TEST_F(MysqlTest, NewRulesReplaceTheOldOnesAndNothingElse) {
  const TaskRecord first = inserted(a_task());
  const TaskRecord second = inserted(a_task());
  const std::vector<task::RetryRules> rules{
      {.max_attempts = 9, .max_duration = 5min, .deadline = kMarch + 1h, .backoff = "a \"b\" \\ 'c'"}, {}};
  in_transaction([&] {
    session->update_rules(kTable,
                          std::vector<sql::NewRules>{{ticket_of(first), rules[0]}, {ticket_of(second), rules[1]}});
  });
  EXPECT_EQ(live(first.info.id).at(0).rules, rules[0]);
  EXPECT_EQ(live(second.info.id).at(0).rules, rules[1]);
  EXPECT_EQ(live(first.info.id).at(0).info.version, 1);
}

}  // namespace
}  // namespace easyretry::storage::mysql
