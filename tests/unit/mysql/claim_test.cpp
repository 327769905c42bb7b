#include "unit/mysql/support.h"

namespace easyretry::storage::mysql {
namespace {

TEST_F(MysqlTest, AClaimGivesTheTaskAsItIsStoredThen) {
  const TaskRecord task = inserted(a_task().business("order", "42"));
  const TaskRecord won = claim(*session, {ticket_of(task)}, kMarch + 1s).at(0);
  const TaskRecord read = live(task.info.id).at(0);
  for (const TaskRecord& record : {won, read}) {
    EXPECT_EQ(record.info.state, TaskState::running);
    EXPECT_EQ(record.info.version, 2);
    EXPECT_EQ(record.info.attempts, 1);
    EXPECT_EQ(record.callback_attempts, 0);
    EXPECT_EQ(record.info.crashes, 0);
    EXPECT_EQ(record.info.deliveries, 1);
    EXPECT_EQ(record.locked_by, "worker");
    EXPECT_EQ(record.lease_until, kMarch + 31s);
    EXPECT_EQ(record.payload, task.payload);
    EXPECT_EQ(record.info.business_id, "42");
  }
}

TEST_F(MysqlTest, AClaimWithAnOldVersionChangesNothing) {
  const TaskRecord task = inserted(a_task());
  EXPECT_THAT(claim(*session, {{task.info.id, 0}, {task.info.id, 2}}), IsEmpty());
  EXPECT_EQ(live(task.info.id).at(0).info.version, 1);
}

TEST_F(MysqlTest, ATaskThatIsNotDueIsNotClaimed) {
  const TaskRecord task = inserted(a_task().due_in(5s));
  EXPECT_THAT(claim(*session, {ticket_of(task)}, kMarch + 4999ms), IsEmpty());
  EXPECT_EQ(claim(*session, {ticket_of(task)}, kMarch + 5s).size(), 1U);
}

TEST_F(MysqlTest, ALiveLeaseIsRespectedAndOneThatRanOutCountsAsACrash) {
  const TaskRecord running = claimed(a_task());
  EXPECT_THAT(claim(*session, {ticket_of(running)}, kMarch + 29999ms), IsEmpty());
  const TaskRecord again = claim(*session, {ticket_of(running)}, kMarch + 30s, "other").at(0);
  EXPECT_EQ(again.info.crashes, 1);
  EXPECT_EQ(again.info.attempts, 1);
  EXPECT_EQ(again.info.deliveries, 2);
  EXPECT_EQ(again.info.version, 3);
  const TaskRecord read = live(running.info.id).at(0);
  EXPECT_EQ(read.info.crashes, 1);
  EXPECT_EQ(read.info.attempts, 1);
  EXPECT_EQ(read.locked_by, "other");
}

TEST_F(MysqlTest, AClaimAfterStageRunCountsAsACallbackAttempt) {
  const TaskRecord running = claimed(a_task());
  Settlement advance = settlement_of(ticket_of(running), Settlement::Kind::advance);
  advance.stage = Stage::on_success;
  reschedule({advance});
  const TaskRecord won = claim(*session, {{running.info.id, 3}}).at(0);
  EXPECT_EQ(won.callback_attempts, 1);
  EXPECT_EQ(won.info.attempts, 1);
  EXPECT_EQ(live(running.info.id).at(0).callback_attempts, 1);
  EXPECT_EQ(live(running.info.id).at(0).info.attempts, 1);
}

TEST_F(MysqlTest, AClaimOfManyTicketsWinsAllThatExist) {
  std::vector<TaskRecord> batch;
  std::vector<Ticket> tickets;
  for (int i = 0; i < 1100; ++i) tickets.push_back(ticket_of(batch.emplace_back(row(a_task()))));
  insert(batch);
  std::ranges::reverse(tickets);
  tickets.push_back({TaskId{1}, 1});
  EXPECT_EQ(claim(*session, tickets).size(), 1100U);
  EXPECT_THAT(claim(*session, tickets), IsEmpty());
}

TEST_F(MysqlTest, ARowThatSomeoneIsClaimingIsPassedOverWithoutWaiting) {
  const TaskRecord task = inserted(a_task());
  const TaskRecord free = inserted(a_task());
  const auto other = connect();
  const std::vector<Ticket> held{ticket_of(task)};
  other->begin(Promise::kept);
  EXPECT_EQ(other->claim(kTable, {held, "other", 30s}, kMarch).size(), 1U);
  const auto won = claim(*session, {ticket_of(task), ticket_of(free)});
  ASSERT_EQ(won.size(), 1U);
  EXPECT_EQ(won[0].info.id, free.info.id);
  other->commit();
}

TEST_F(MysqlTest, ARowWithNonsenseDoesNotKeepOthersFromBeingClaimed) {
  const TaskRecord full = inserted(a_task());
  const TaskRecord good = inserted(a_task());
  const TaskRecord strange = inserted(a_task());
  by_hand("UPDATE retry_task SET attempt_count = 2147483647, delivery_count = 2147483647 WHERE id = " +
          to_string(full.info.id));
  by_hand("UPDATE retry_task SET status = 'LOST' WHERE id = " + to_string(strange.info.id));
  EXPECT_EQ(claim(*session, {ticket_of(full), ticket_of(good), ticket_of(strange)}).size(), 2U);
}

TEST_F(MysqlTest, ARenewalMovesTheLeaseAndKeepsOrReplacesTheProgress) {
  const TaskRecord first = claimed(a_task());
  const TaskRecord second = claimed(a_task());
  const std::string progress{"50 % \0\xff 'x' \"y\"", 15};
  const auto renew = [&](const std::vector<Renewal>& renewals) {
    return in_transaction([&] { return session->renew(kTable, renewals, kMarch + 10s); });
  };
  EXPECT_THAT(renew({{ticket_of(second), 60s, {}}, {ticket_of(first), 30s, progress}}),
              ElementsAre(first.info.id, second.info.id));
  EXPECT_EQ(live(first.info.id).at(0).lease_until, kMarch + 40s);
  EXPECT_EQ(live(first.info.id).at(0).info.progress, progress);
  EXPECT_EQ(live(second.info.id).at(0).lease_until, kMarch + 70s);
  EXPECT_EQ(live(second.info.id).at(0).info.progress, "");
  EXPECT_EQ(renew({{ticket_of(first), Millis::max(), {}}}).size(), 1U);
  EXPECT_EQ(live(first.info.id).at(0).info.progress, progress);
  EXPECT_EQ(live(first.info.id).at(0).lease_until, TimePoint::max());
  EXPECT_EQ(live(first.info.id).at(0).info.version, 2);
  EXPECT_THAT(renew({{{first.info.id, 1}, 1h, "late"}}), IsEmpty());
  EXPECT_EQ(live(first.info.id).at(0).info.progress, progress);
}

}  // namespace
}  // namespace easyretry::storage::mysql
