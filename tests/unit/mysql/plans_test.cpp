// How the server goes about the hot statements, told by itself.

#include "storage/mysql/columns.h"
#include "storage/mysql/connection.h"
#include "storage/mysql/due_sql.h"
#include "storage/mysql/pieces.h"
#include "storage/mysql/row_changes.h"
#include "storage/mysql/search_sql.h"
#include "storage/mysql/set_up.h"
#include "storage/mysql/statements.h"
#include "unit/mysql/support.h"

namespace easyretry::storage::mysql {
namespace {

struct Step {
  std::string table, type, key;
  std::string extra;
};

class MysqlPlans : public MysqlTest {
 protected:
  MysqlPlans() { set_up(connection, address()); }

  std::vector<Step> plan(const std::string& statement) {
    Rows rows = connection.select("EXPLAIN " + statement);
    std::vector<Step> steps;
    while (rows.next()) {
      const auto text = [&](int column) { return std::string{rows.text(column)}; };
      if (text(2).starts_with("<union")) continue;
      steps.push_back({text(2), text(3), text(5), text(9)});
    }
    return steps;
  }
  void expect_by(const std::string& key, const std::string& statement) {
    for (const Step& step : plan(statement)) {
      if (step.table == "n") continue;  // the list itself
      EXPECT_EQ(step.key, key) << statement.substr(0, 200);
      EXPECT_TRUE(step.type == "range" || step.type == "eq_ref" || step.type == "const" || step.type == "ref")
          << step.type << ": " << statement.substr(0, 200);
      EXPECT_THAT(step.extra, ::testing::Not(HasSubstr("filesort")));
      EXPECT_THAT(step.extra, ::testing::Not(HasSubstr("temporary")));
    }
  }
  // So many new ones of shard 3, due one after the other.
  std::vector<Ticket> tasks(int count) {
    std::vector<TaskRecord> rows;
    std::vector<Ticket> tickets;
    for (int i = 0; i < count; ++i) tickets.push_back(ticket_of(rows.emplace_back(row(a_task().due_in(Millis{i})))));
    insert(rows);
    by_hand("ANALYZE TABLE retry_task");
    return tickets;
  }
  // As many as a statement names, spread over all.
  static std::vector<Ticket> some(const std::vector<Ticket>& tickets) {
    std::vector<Ticket> picked;
    const std::size_t step = tickets.size() / std::min(tickets.size(), kMostRows);
    for (std::size_t i = 0; i < tickets.size(); i += step) picked.push_back(tickets[i]);
    return picked;
  }
  static std::vector<TaskId> ids_of(const std::vector<Ticket>& tickets) {
    std::vector<TaskId> ids;
    for (const Ticket& ticket : tickets) ids.push_back(ticket.id);
    return ids;
  }
  std::int64_t rows_read() {
    std::int64_t read = 0;
    Rows rows = connection.select("SHOW SESSION STATUS LIKE 'Handler_read%'");
    while (rows.next()) read += rows.integer(1);
    return read;
  }

  Connection connection{address()};
};

// Few rows tempt the optimizer to read them all, many ids to sort them.
TEST_F(MysqlPlans, EveryChangeFindsItsRowsByThePrimaryKey) {
  for (const int there : {20, 500, 20'000}) {
    const std::vector<Ticket> tickets = some(tasks(there));
    const std::vector<TaskId> ids = ids_of(tickets);
    for (const std::string& sql :
         {claimable(kTable, tickets, kMarch), held(kTable, tickets), hold(kTable, ids), locked(kTable, ids),
          found(kTable, false, ids), stored_keys(kTable, ids),
          mysql::claim(kTable, ids, {tickets, "worker", Millis{0}}, kMarch), extend(kTable, ids, kMarch, kMarch),
          remove(kTable, ids), finish_into(kTable, kHistory, ids, Outcome::succeeded, "", kMarch)}) {
      expect_by("PRIMARY", sql);
    }
  }
}

TEST_F(MysqlPlans, ValuesOfTheirOwnAreJoinedToTheirRowsByThePrimaryKey) {
  for (const int there : {20, 500, 20'000}) {
    const std::vector<Ticket> tickets = some(tasks(there));
    std::vector<Settlement> settlements;
    for (const Ticket& ticket : tickets) settlements.push_back(settlement_of(ticket, Settlement::Kind::retry, "no"));
    std::vector<const Settlement*> settling;
    for (const Settlement& one : settlements) settling.push_back(&one);
    std::vector<sql::NewRules> updates;
    for (const Ticket& ticket : tickets) updates.push_back({ticket, {}});
    const Renewal renewal{tickets[0], 30s, "half"};
    const std::vector<const Renewal*> renewing{&renewal};
    for (const RowChanges& changes :
         {retries(kTable, settling, kMarch), advances(kTable, settling, kMarch), hand_backs(kTable, settling, kMarch),
          renewals(kTable, renewing, kMarch), new_rules(kTable, updates)}) {
      expect_by("PRIMARY", cut_rows(changes.head, changes.rows, changes.tail, 1 << 20).at(0).statement);
    }
  }
}

TEST_F(MysqlPlans, ALoadWalksTheDueIndexFromItsCursor) {
  for (const int there : {20, 700, 20'000}) {
    tasks(there);
    for (const TimePoint from : {TimePoint::min(), kMarch + 5ms}) {
      const std::vector<ShardCursor> shards{{ShardId{3}, from, TaskId{1}}, {ShardId{9}, from, TaskId{1}}};
      const std::string sql = due(kTable, {"shop", shards, kMarch, kMarch + 1h, 10});
      EXPECT_EQ(plan(sql).size(), 2U);
      expect_by("idx_next_retry", sql);
    }
  }
}

// The time is as good as a number to the server, or it would walk whole shards.
TEST_F(MysqlPlans, ALoadThatAsksForTheTimeWalksTheSameRange) {
  const std::vector<std::string> handlers{"pay"};
  for (const int there : {20, 700, 20'000}) {
    tasks(there);
    for (const TimePoint from : {TimePoint::min(), kMarch + 5ms}) {
      const std::vector<ShardCursor> shards{{ShardId{3}, from, TaskId{1}}, {ShardId{9}, from, TaskId{1}}};
      for (const Step& step : plan(load(kTable, {"shop", shards, 5s, 10, handlers}, std::nullopt))) {
        if (step.table == "retry_inbox") {
          EXPECT_EQ(step.key, "idx_waiting");
        } else if (step.table == kTable) {
          EXPECT_EQ(step.key + " " + step.type, "idx_next_retry range");
          EXPECT_THAT(step.extra, ::testing::Not(HasSubstr("filesort")));
        }
      }
    }
  }
}

TEST_F(MysqlPlans, ALoadCostsNothingForTheTasksBeforeItNorForThoseThatAreNotDue) {
  std::vector<TaskRecord> rows;
  for (int i = 0; i < 2000; ++i) rows.push_back(row(a_task()));
  for (int i = 0; i < 1000; ++i) rows.push_back(row(a_task().due_in(1h)));
  insert(rows);
  const std::vector<ShardCursor> shards{{ShardId{3}, kMarch, rows[1979].info.id}};
  const std::int64_t before = rows_read();
  Rows page = connection.select(due(kTable, {"shop", shards, kMarch, kMarch + 1s, 500}));
  int given = 0;
  while (page.next()) ++given;
  EXPECT_EQ(given, 20);
  EXPECT_LT(rows_read() - before, 100);
}

TEST_F(MysqlPlans, KeysAndBusinessesAreFoundByTheirIndexes) {
  tasks(700);
  const std::vector<std::string> keys{"a", "b", "key-1"};
  expect_by("idx_task_key", live_keys(kTable, "shop", keys));
  const TaskQuery key{.key = "key-1"};
  const TaskQuery business{.business_type = "order", .business_id = "1"};
  expect_by("idx_business", page({business, kTable, false}));
  expect_by("idx_business", page({business, kHistory, true}));
  expect_by("idx_business", count({business, kTable, false}));
  EXPECT_EQ(plan(page({key, kTable, false})).at(0).key, "idx_task_key");
  EXPECT_EQ(plan(page({key, kHistory, true})).at(0).key, "idx_task_key");
}

TEST_F(MysqlPlans, AListGoesByTheIdAndSortsNothing) {
  tasks(700);
  for (const TaskQuery& query : {TaskQuery{}, TaskQuery{.space = "shop"}, TaskQuery{.handler = "pay"},
                                 TaskQuery{.space = "shop", .state = TaskState::running}}) {
    expect_by("PRIMARY", page({query, kTable, false}));
  }
}

TEST_F(MysqlPlans, ACountOfANamespaceReadsAnIndexAndNoRows) {
  tasks(700);
  EXPECT_THAT(plan(count({TaskQuery{.space = "shop"}, kTable, false})).at(0).extra, HasSubstr("Using index"));
}

TEST_F(MysqlPlans, ColumnsTakeWhatTheChecksLetPass) {
  const auto length = [&](const std::string& column) {
    return std::stoul(
        by_hand("SELECT character_maximum_length FROM information_schema.columns WHERE table_schema = "
                "DATABASE() AND table_name = 'retry_task' AND column_name = '" +
                column + "'"));
  };
  for (const ByteLimit& limit : {kSpaceLimit, kKeyLimit, kHandlerLimit, kBusinessTypeLimit, kBusinessIdLimit,
                                 kTraceparentLimit, kBackoffLimit, kOwnerLimit, kProgressLimit}) {
    EXPECT_EQ(length(std::string{limit.column}), limit.bytes) << limit.column;
  }
}

TEST_F(MysqlPlans, ReadingForAChangeLocksNoGaps) {
  const auto tickets = tasks(20);
  connection.run("START TRANSACTION");
  connection.select(
      claimable(kTable, std::vector{tickets[3], Ticket{TaskId{7}, 1}, Ticket{tickets[5].id, 9}}, kMarch + 1h));
  // Before the first id, between two, and a row whose version did not match: all are free.
  TaskRecord between = row(a_task());
  between.info.id = TaskId{8};
  EXPECT_EQ(insert({between}).size(), 1U);
  between.info.id = TaskId{number(tickets[3].id) + 100000000};
  between.info.key = "another";
  EXPECT_EQ(insert({between}).size(), 1U);
  EXPECT_EQ(claim(*session, {tickets[5]}, kMarch + 1h).size(), 1U);
  EXPECT_THAT(claim(*session, {tickets[3]}, kMarch + 1h), IsEmpty());
  connection.run("ROLLBACK");
}

}  // namespace
}  // namespace easyretry::storage::mysql
