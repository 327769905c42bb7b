#include "unit/mysql/support.h"

namespace easyretry::storage::mysql {
namespace {

TEST_F(MysqlTest, AFinishedTaskIsInHistoryAndNowhereElse) {
  const TaskRecord running = claimed(a_task().business("order", "42").payload(std::string{"\0\xff", 2}));
  EXPECT_THAT(finish(settlement_of(ticket_of(running), Settlement::Kind::finish), kMarch + 1s),
              ElementsAre(running.info.id));
  EXPECT_THAT(live(running.info.id), IsEmpty());
  const TaskRecord read = ended(running.info.id).at(0);
  EXPECT_EQ(read.info.state, TaskState::finished);
  EXPECT_EQ(read.info.outcome, Outcome::succeeded);
  EXPECT_EQ(read.info.finished_at, kMarch + 1s);
  EXPECT_EQ(read.info.version, 3);
  EXPECT_EQ(read.info.attempts, 1);
  EXPECT_EQ(read.info.last_error, "");
  EXPECT_EQ(read.info.first_failed_at, std::nullopt);
  EXPECT_EQ(read.payload, running.payload);
  EXPECT_EQ(read.info.business_id, "42");
  EXPECT_EQ(read.info.created_at, kMarch);
}

TEST_F(MysqlTest, TasksThatEndDifferentlyEndInOneGo) {
  std::vector<Settlement> settlements;
  for (int i = 0; i < 6; ++i) {
    settlements.push_back(settlement_of(ticket_of(claimed(a_task())), Settlement::Kind::finish,
                                        i % 2 == 0 ? "" : "no " + std::to_string(i / 3)));
    settlements.back().outcome = i % 2 == 0 ? Outcome::succeeded : Outcome::exhausted;
  }
  const auto ids = in_transaction([&] { return session->finish(kTable, kHistory, settlements, kMarch + 1s); });
  EXPECT_EQ(ids.size(), 6U);
  EXPECT_EQ(live_count(), 0);
  for (const Settlement& settlement : settlements) {
    const TaskRecord read = ended(settlement.ticket.id).at(0);
    EXPECT_EQ(read.info.outcome, settlement.outcome);
    EXPECT_EQ(read.info.last_error, settlement.error);
    EXPECT_EQ(read.info.first_failed_at.has_value(), !settlement.error.empty());
  }
}

TEST_F(MysqlTest, WithoutAHistoryAFinishedTaskIsForgotten) {
  const TaskRecord running = claimed(a_task());
  const Settlement settlement = settlement_of(ticket_of(running), Settlement::Kind::finish);
  EXPECT_EQ(in_transaction([&] { return session->finish(kTable, "", {&settlement, 1}, kMarch); }).size(), 1U);
  EXPECT_THAT(live(running.info.id), IsEmpty());
  EXPECT_THAT(ended(running.info.id), IsEmpty());
}

TEST_F(MysqlTest, ALateVersionSettlesNothing) {
  const TaskRecord running = claimed(a_task());
  const Ticket late{running.info.id, running.info.version - 1};
  EXPECT_THAT(finish(settlement_of(late, Settlement::Kind::finish)), IsEmpty());
  for (const auto kind : {Settlement::Kind::retry, Settlement::Kind::advance, Settlement::Kind::hand_back}) {
    EXPECT_THAT(reschedule({settlement_of(late, kind, "late")}), IsEmpty());
  }
  const TaskRecord read = live(running.info.id).at(0);
  EXPECT_EQ(read.info.version, running.info.version);
  EXPECT_EQ(read.info.state, TaskState::running);
  EXPECT_EQ(read.info.last_error, "");
  EXPECT_THAT(ended(running.info.id), IsEmpty());
}

TEST_F(MysqlTest, ATaskThatIsNotRunningCannotBeSettled) {
  const TaskRecord pending = inserted(a_task());
  EXPECT_THAT(finish(settlement_of(ticket_of(pending), Settlement::Kind::finish)), IsEmpty());
  EXPECT_THAT(reschedule({settlement_of(ticket_of(pending), Settlement::Kind::retry)}), IsEmpty());
  EXPECT_EQ(live(pending.info.id).at(0).info.version, 1);
}

TEST_F(MysqlTest, SettledTwiceIsSettledOnce) {
  const TaskRecord running = claimed(a_task());
  const Settlement retry = settlement_of(ticket_of(running), Settlement::Kind::retry);
  EXPECT_EQ(reschedule({retry}).size(), 1U);
  EXPECT_THAT(reschedule({retry}), IsEmpty());
  EXPECT_EQ(live(running.info.id).at(0).info.version, 3);
}

// Each as task::apply_settlement does it.
TEST_F(MysqlTest, EverySettlementLeavesTheRowAsTheTransitionTableSays) {
  std::vector<TaskRecord> expected;
  std::vector<Settlement> settlements;
  for (const auto kind : {Settlement::Kind::retry, Settlement::Kind::advance, Settlement::Kind::hand_back}) {
    for (const std::string error : {"", "bank busy: 订单 o'brien \"\\\n\t\x01"}) {
      for (const Millis delay : {0ms, 5000ms, Millis::max()}) {
        TaskRecord record = claimed(a_task());
        Settlement settlement = settlement_of(ticket_of(record), kind, error);
        settlement.delay = delay;
        settlement.stage = Stage::on_final_failure;
        settlement.outcome = Outcome::exhausted;
        settlement.result = std::string{"{\"paid\":true}\0\xff", 15};
        settlements.push_back(settlement);
        task::apply_settlement(record, settlement, kMarch + 1s);
        expected.push_back(record);
      }
    }
  }
  EXPECT_EQ(reschedule(settlements, kMarch + 1s).size(), settlements.size());
  for (const TaskRecord& record : expected) {
    const TaskRecord read = live(record.info.id).at(0);
    EXPECT_EQ(read.info.state, record.info.state);
    EXPECT_EQ(read.info.stage, record.info.stage);
    EXPECT_EQ(read.info.outcome, record.info.outcome);
    EXPECT_EQ(read.info.version, record.info.version);
    EXPECT_EQ(read.info.attempts, record.info.attempts);
    EXPECT_EQ(read.info.next_at, record.info.next_at);
    EXPECT_EQ(read.info.first_failed_at, record.info.first_failed_at);
    EXPECT_EQ(read.info.last_failed_at, record.info.last_failed_at);
    EXPECT_EQ(read.info.last_error, record.info.last_error);
    EXPECT_EQ(read.result, record.result);
    EXPECT_EQ(read.locked_by, "");
    EXPECT_EQ(read.lease_until, TimePoint{});
  }
}

TEST_F(MysqlTest, TheFirstFailureStaysAndTheLastMoves) {
  const TaskRecord running = claimed(a_task());
  reschedule({settlement_of(ticket_of(running), Settlement::Kind::retry, "one")}, kMarch + 1s);
  claim(*session, {{running.info.id, 3}}, kMarch + 2s);
  reschedule({settlement_of({running.info.id, 4}, Settlement::Kind::retry, "two")}, kMarch + 3s);
  claim(*session, {{running.info.id, 5}}, kMarch + 4s);
  finish(settlement_of({running.info.id, 6}, Settlement::Kind::finish), kMarch + 5s);
  const TaskRecord read = ended(running.info.id).at(0);
  EXPECT_EQ(read.info.first_failed_at, kMarch + 1s);
  EXPECT_EQ(read.info.last_failed_at, kMarch + 3s);
  EXPECT_EQ(read.info.last_error, "two");
}

TEST_F(MysqlTest, LongMessagesAndResultsComeBack) {
  std::string chinese;
  for (int i = 0; i < 100'000; ++i) chinese += "重";
  std::string result(1 << 20, '\xff');
  result[7] = '\0';
  std::vector<Settlement> settlements;
  for (int i = 0; i < 6; ++i) {
    settlements.push_back(settlement_of(ticket_of(claimed(a_task())), Settlement::Kind::advance, chinese));
    settlements.back().result = result;
  }
  EXPECT_EQ(reschedule(settlements).size(), 6U);
  for (const Settlement& settlement : settlements) {
    const TaskRecord read = live(settlement.ticket.id).at(0);
    EXPECT_TRUE(read.info.last_error == chinese);
    EXPECT_TRUE(read.result == result);
  }
}

TEST_F(MysqlTest, AMessageOfManyMegabytesIsCutAndTheTaskSettled) {
  const TaskRecord running = claimed(a_task());
  EXPECT_EQ(reschedule({settlement_of(ticket_of(running), Settlement::Kind::retry, std::string(30 << 20, 'e'))}).size(),
            1U);
  EXPECT_EQ(live(running.info.id).at(0).info.last_error.size(), 1U << 20);
}

TEST_F(MysqlTest, TextsComeBackFromADatabaseOfAnotherCharacterSet) {
  by_hand("DROP TABLE retry_task");
  by_hand("ALTER DATABASE CHARACTER SET latin1");
  session = connect();
  session->schema().create_tasks(kTable, sql::UniqueKeys::in_task_table);
  const TaskRecord running = claimed(a_task());
  reschedule({settlement_of(ticket_of(running), Settlement::Kind::retry, "订单 😀")});
  EXPECT_EQ(live(running.info.id).at(0).info.last_error, "订单 😀");
}

TEST_F(MysqlTest, ARowThatHistoryHasAlreadyStillEnds) {
  const TaskRecord running = claimed(a_task());
  in_transaction([&] { session->insert_history(kHistory, {&running, 1}); });
  EXPECT_EQ(finish(settlement_of(ticket_of(running), Settlement::Kind::finish)).size(), 1U);
  EXPECT_THAT(live(running.info.id), IsEmpty());
  EXPECT_EQ(ended(running.info.id).size(), 1U);
}

TEST_F(MysqlTest, LockedRowsCanBeWrittenBackAndRemoved) {
  const TaskRecord running = claimed(a_task());
  const TaskRecord other = claimed(a_task());
  in_transaction([&] {
    std::vector<TaskRecord> rows =
        session->lock(kTable, std::vector<TaskId>{other.info.id, running.info.id, TaskId{5}});
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].info.id, running.info.id);
    task::apply_end(rows[0], task::Event::end_and_tell, {}, kMarch + 1s);
    session->update(kTable, {rows.data(), 1}, kMarch + 1s);
    session->remove(kTable, {&other.info.id, 1});
  });
  const TaskRecord read = live(running.info.id).at(0);
  EXPECT_EQ(read.info.state, TaskState::pending);
  EXPECT_EQ(read.info.stage, Stage::on_final_failure);
  EXPECT_EQ(read.info.outcome, Outcome::cancelled);
  EXPECT_EQ(read.info.version, 3);
  EXPECT_EQ(read.info.next_at, kMarch + 1s);
  EXPECT_EQ(read.locked_by, "");
  EXPECT_EQ(read.payload, running.payload);
  EXPECT_THAT(live(other.info.id), IsEmpty());
}

TEST_F(MysqlTest, ARecordPutIntoHistoryComesBack) {
  TaskRecord record = claimed(a_task().business("order", "42"));
  task::apply_end(record, task::Event::end, {}, kMarch + 1s);
  in_transaction([&] { session->insert_history(kHistory, {&record, 1}); });
  const TaskRecord read = ended(record.info.id).at(0);
  EXPECT_EQ(read.info.outcome, Outcome::cancelled);
  EXPECT_EQ(read.info.finished_at, kMarch + 1s);
  EXPECT_EQ(read.info.version, record.info.version);
  EXPECT_EQ(read.payload, record.payload);
}

}  // namespace
}  // namespace easyretry::storage::mysql
