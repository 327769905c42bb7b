// EXPLAIN of the hot statements, as the server answers it. An INSERT ... VALUES has nothing to find but its keys.

#include "storage/list_walk.h"
#include "storage/mysql/session.h"
#include "storage/mysql/statements.h"
#include "storage/mysql/values.h"
#include "unit/mysql/support.h"

namespace easyretry::storage::mysql {
namespace {

struct Step {
  std::string table, type, key;
  std::string extra;
};

class MysqlPlans : public MysqlTest {
 protected:
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
    std::vector<Step> steps = plan(statement);
    std::erase_if(steps, [](const Step& step) { return step.table == "n"; });  // the list itself
    EXPECT_THAT(steps, ::testing::Not(IsEmpty())) << statement.substr(0, 200);
    for (const Step& step : steps) {
      EXPECT_EQ(step.key, key) << statement.substr(0, 200);
      EXPECT_TRUE(step.type == "range" || step.type == "eq_ref" || step.type == "const" || step.type == "ref")
          << step.type << ": " << statement.substr(0, 200);
      EXPECT_THAT(step.extra, ::testing::Not(HasSubstr("filesort")));
      EXPECT_THAT(step.extra, ::testing::Not(HasSubstr("temporary")));
    }
  }
  // New tasks of shard 3, due one after the other.
  std::vector<Ticket> tasks(int count) {
    std::vector<TaskRecord> rows;
    std::vector<Ticket> tickets;
    for (int i = 0; i < count; ++i) tickets.push_back(ticket_of(rows.emplace_back(row(a_task().due_in(Millis{i})))));
    insert(rows);
    by_hand("ANALYZE TABLE retry_task");
    return tickets;
  }
  // As many as one statement names, spread over all.
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

// A small table tempts the optimizer to read all of it, and a long list of ids to sort.
TEST_F(MysqlPlans, EveryChangeFindsItsRowsByThePrimaryKey) {
  const std::string now = literal(kMarch);
  session->schema().create_tasks("retry_task_1", sql::UniqueKeys::in_task_table);
  for (const int there : {20, 500, 20'000}) {
    const std::vector<Ticket> tickets = some(tasks(there));
    const std::string pairs = ticket_list(tickets);
    const std::string ids = id_list(ids_of(tickets));
    for (const std::string& sql :
         {statements::lock_claimable.with({{"table", kTable}, {"tickets", pairs}, {"now", now}}),
          statements::claim.with({{"table", kTable},
                                  {"lost", statements::note_lost.text},
                                  {"ids", ids},
                                  {"owner", bytes("worker")},
                                  {"locked_at", now},
                                  {"lease_until", now},
                                  {"now", now}}),
          statements::lock_held.with({{"table", kTable}, {"tickets", pairs}, {"lock", "FOR UPDATE NOWAIT"}}),
          statements::extend_leases.with({{"table", kTable}, {"ids", ids}, {"lease_until", now}, {"now", now}}),
          statements::finish_into.with({{"table", kTable},
                                        {"history", kHistory},
                                        {"ids", ids},
                                        {"outcome", name_or_null(Outcome::exhausted)},
                                        {"failed", "TRUE"},
                                        {"error", error_or_null("no")},
                                        {"now", now}}),
          statements::remove_rows.with({{"table", kTable}, {"ids", ids}}),
          statements::copy_tasks.with({{"from", kTable}, {"to", "retry_task_1"}, {"ids", ids}})}) {
      expect_by("PRIMARY", sql);
    }
  }
}

TEST_F(MysqlPlans, RowsAreFoundAndLockedByThePrimaryKey) {
  for (const int there : {20, 500, 20'000}) {
    const std::string ids = id_list(ids_of(some(tasks(there))));
    for (const char* lock : {"", "FOR UPDATE", "FOR UPDATE SKIP LOCKED", "LOCK IN SHARE MODE"}) {
      for (const Statement& statement : {statements::lock_ids, statements::live_records}) {
        expect_by("PRIMARY", statement.with({{"table", kTable}, {"ids", ids}, {"lock", lock}}));
      }
    }
    expect_by("PRIMARY", statements::stored_keys.with({{"table", kTable}, {"ids", ids}}));
  }
}

TEST_F(MysqlPlans, ValuesOfTheirOwnAreJoinedToTheirRowsByThePrimaryKey) {
  for (const int there : {20, 500, 20'000}) {
    const std::string rows = list_of(some(tasks(there)), [](const Ticket& ticket) {
      return "[" + literal(ticket.id) + ",null,1,null,\"RUN\",\"SUCCEEDED\",\"00\"]";
    });
    for (const Statement& statement :
         {statements::retry, statements::advance, statements::hand_back, statements::renew_with_progress}) {
      expect_by("PRIMARY", statement.with({{"table", kTable}, {"now", literal(kMarch)}, {"rows", rows}}));
    }
    expect_by("PRIMARY", statements::update_rules.with({{"table", kTable}, {"rows", rows}}));
    expect_by("PRIMARY", statements::finish_noted.with(
                             {{"table", kTable}, {"history", kHistory}, {"now", literal(kMarch)}, {"rows", rows}}));
  }
}

TEST_F(MysqlPlans, ALoadWalksTheDueIndexFromItsCursor) {
  for (const int there : {20, 700, 20'000}) {
    tasks(there);
    for (const TimePoint from : {TimePoint::min(), kMarch + 5ms}) {
      const std::vector<ShardCursor> shards{{ShardId{3}, from, TaskId{1}}, {ShardId{9}, from, TaskId{1}}};
      const std::string sql = due_statement(kTable, {"shop", shards, kMarch, kMarch + 1h, 10});
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
      for (const Step& step : plan(load_statement(kTable, {"shop", shards, 5s, 10, handlers}, std::nullopt))) {
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
  Rows page = connection.select(due_statement(kTable, {"shop", shards, kMarch, kMarch + 1s, 500}));
  int given = 0;
  while (page.next()) ++given;
  EXPECT_EQ(given, 20);
  EXPECT_LT(rows_read() - before, 100);
}

TEST_F(MysqlPlans, KeysAndBusinessesAreFoundByTheirIndexes) {
  tasks(700);
  session->schema().create_keys();
  by_hand("INSERT INTO retry_task_key SELECT id, namespace, task_key FROM retry_task");
  const std::string keys = bytes("a") + "," + bytes("b") + "," + bytes("key-1");
  for (const char* lock : {"", "LOCK IN SHARE MODE"}) {
    expect_by("idx_task_key", statements::live_keys.with(
                                  {{"table", kTable}, {"namespace", bytes("shop")}, {"keys", keys}, {"lock", lock}}));
    expect_by("idx_task_key",
              statements::key_holders.with({{"namespace", bytes("shop")}, {"keys", keys}, {"lock", lock}}));
  }
  const TaskQuery key{.key = "key-1"};
  const TaskQuery business{.business_type = "order", .business_id = "1"};
  expect_by("idx_business", page_statement({business, kTable, false}));
  expect_by("idx_business", page_statement({business, kHistory, true}));
  expect_by("idx_business", count_statement({business, kTable, false}));
  EXPECT_EQ(plan(page_statement({key, kTable, false})).at(0).key, "idx_task_key");
  EXPECT_EQ(plan(page_statement({key, kHistory, true})).at(0).key, "idx_task_key");
}

// The ids of tasks that were stored in some time are a range of the primary key.
TEST_F(MysqlPlans, TasksAreFoundByTheTimeTheyWereStoredThroughThePrimaryKey) {
  for (const int there : {20, 700}) {
    tasks(there);
    by_hand("INSERT IGNORE INTO " + std::string{kHistory} +
            " (id, version, next_retry_time, namespace, task_key, method_name, created_at, max_attempts, params_json, "
            "finished_at) SELECT id, 1, 0, namespace, task_key, method_name, created_at, 0, '[]', created_at FROM "
            "retry_task");
    for (const bool history : {false, true}) {
      const char* table = history ? kHistory : kTable;
      for (const TimeRange& time : {TimeRange{kMarch, kMarch + 1s}, TimeRange{{}, kMarch - 1h}}) {
        const TaskQuery query{.name_space = "shop", .created_at = time};
        expect_by("PRIMARY", page_statement({query, table, history}));
      }
      // Half an hour before, when nothing was stored: no row is read.
      const TaskQuery before{.name_space = "shop", .created_at = {kMarch - 1h, kMarch - 30min}};
      const std::int64_t read = rows_read();
      Rows rows = connection.select(page_statement({before, table, history}));
      EXPECT_FALSE(rows.next());
      EXPECT_LT(rows_read() - read, 100);
    }
  }
}

TEST_F(MysqlPlans, AScanLooksAtARangeOfThePrimaryKey) {
  tasks(700);
  for (const ListOrder order : {ListOrder::oldest_first, ListOrder::newest_first}) {
    const TaskQuery query{.name_space = "shop", .handler = "rare", .failed = true, .attempts_from = 2, .order = order};
    const ListWalk walk{query};
    const std::int64_t read = rows_read();
    connection.select(statements::reach.with({{"table", kTable},
                                              {"beyond", walk.beyond()},
                                              {"from", literal(walk.from())},
                                              {"direction", walk.direction()},
                                              {"limit", "100"}}));
    EXPECT_LT(rows_read() - read, 300);
    expect_by("PRIMARY", page_statement({query, kTable, false, true, walk.up_to(TaskId{4711})}));
  }
}

TEST_F(MysqlPlans, ASweepOfHistoryGoesByTheEnd) {
  tasks(700);
  by_hand("INSERT INTO " + std::string{kHistory} +
          " (id, version, next_retry_time, namespace, task_key, method_name, created_at, max_attempts, params_json, "
          "finished_at) SELECT id, 1, 0, namespace, task_key, method_name, created_at, 0, '[]', next_retry_time FROM "
          "retry_task");
  by_hand("ANALYZE TABLE " + std::string{kHistory});
  expect_by("idx_finished", statements::ended.with({{"table", kHistory},
                                                    {"namespace", bytes("shop")},
                                                    {"handlers", bytes("pay")},
                                                    {"from", literal(kMarch + 100ms)},
                                                    {"until", literal(kMarch + 1h)},
                                                    {"limit", "100"}}));
  expect_by("PRIMARY", statements::remove_arguments.with({{"table", kHistory}, {"ids", "1,2,3"}}));
}

TEST_F(MysqlPlans, AListGoesByTheIdAndSortsNothing) {
  tasks(700);
  for (TaskQuery query : {TaskQuery{}, TaskQuery{.name_space = "shop"}, TaskQuery{.handler = "pay"},
                          TaskQuery{.name_space = "shop", .state = TaskState::running}}) {
    for (const ListOrder order : {ListOrder::oldest_first, ListOrder::newest_first}) {
      query.order = order;
      expect_by("PRIMARY", page_statement({query, kTable, false}));
    }
  }
}

TEST_F(MysqlPlans, ACountOfANamespaceReadsAnIndexAndNoRows) {
  tasks(700);
  EXPECT_THAT(plan(count_statement({TaskQuery{.name_space = "shop"}, kTable, false})).at(0).extra,
              HasSubstr("Using index"));
}

TEST_F(MysqlPlans, ColumnsHoldEveryValueThatTheChecksAllow) {
  const auto length = [&](const std::string& column) {
    return std::stoul(
        by_hand("SELECT character_maximum_length FROM information_schema.columns WHERE table_schema = "
                "DATABASE() AND table_name = 'retry_task' AND column_name = '" +
                column + "'"));
  };
  for (const ByteLimit& limit : {kNamespaceLimit, kKeyLimit, kHandlerLimit, kBusinessTypeLimit, kBusinessIdLimit,
                                 kTraceparentLimit, kBackoffLimit, kOwnerLimit, kProgressLimit}) {
    EXPECT_EQ(length(std::string{limit.column}), limit.bytes) << limit.column;
  }
}

TEST_F(MysqlPlans, ReadingForAChangeLocksNoGaps) {
  const auto tickets = tasks(20);
  connection.run("START TRANSACTION");
  const std::vector<Ticket> some{tickets[3], Ticket{TaskId{7}, 1}, Ticket{tickets[5].id, 9}};
  connection.select(statements::lock_claimable.with(
      {{"table", kTable}, {"tickets", ticket_list(some)}, {"now", literal(kMarch + 1h)}}));
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
