// EXPLAIN of the hot statements, with the settings and the generic plans of a session.

#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/list_walk.h"
#include "storage/open.h"
#include "storage/postgres/connection.h"
#include "storage/postgres/session.h"
#include "storage/postgres/statements.h"
#include "storage/reshard.h"
#include "storage/sql/maintenance.h"
#include "support/plain_sql.h"
#include "support/task_builder.h"
#include "support/test_database.h"

namespace easyretry::storage::postgres {
namespace {

using test::ServerKind;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTable = "retry_task";
constexpr const char* kHistory = "retry_task_history_202603";

class PostgresPlans : public ::testing::Test {
 protected:
  PostgresPlans() {
    db.run(statements::settings.with({{"local", ""}}));
    sql::migrate(schema, schema.version());
    schema.create_tasks(kTable, sql::UniqueKeys::in_task_table);
    schema.create_history(kHistory);
  }

  // Rows of one namespace and 64 lanes. Each has its own key and business id.
  void fill(int rows) {
    const std::string common =
        " SELECT n, 'shop', 'key-' || n, 'pay', 1, 'RUN', n, 0, 0, 0, 0, 0, 1, 5, n, 0, 'order-' || n, ";
    const std::string columns =
        " (id, namespace, task_key, method_name, version, stage, next_retry_time, attempt_count, callback_count, "
        "crash_count, delivery_count, generation, payload_version, max_attempts, created_at, max_retry_duration, "
        "business_id, ";
    const std::string from = " FROM generate_series(1, " + std::to_string(rows) + ") n";
    db.run("INSERT INTO " + std::string{kTable} + columns + "scan_time, status, shard, lane, updated_at)" + common +
           "n, 'PENDING', n % 64, n % 64, n" + from);
    db.run("INSERT INTO " + std::string{kHistory} + columns + "finished_at)" + common + "n" + from);
    db.run("ANALYZE retry_task, retry_task_history_202603");
  }

  // The plan that a session makes once and keeps, whatever the values are.
  std::string plan(const std::string& sql) {
    db.run("PREPARE looked_at AS " + sql);
    int params = 0;
    while (sql.find("$" + std::to_string(params + 1)) != std::string::npos) ++params;
    std::string given;
    for (int i = 0; i < params; ++i) given += i == 0 ? "(NULL" : ", NULL";
    const Rows rows = db.run("EXPLAIN EXECUTE looked_at" + given + (params > 0 ? ")" : ""));
    db.run("DEALLOCATE looked_at");
    std::string text;
    for (int i = 0; i < rows.size(); ++i) text.append(rows.text(i, 0)).append("\n");
    return text;
  }

  // With enable_seqscan off, a statement that has no other way still scans the table, at a cost of ten thousand
  // millions.
  static void expect_by(const std::string& index, const std::string& plan) {
    EXPECT_THAT(plan, HasSubstr(index));
    EXPECT_THAT(plan, Not(HasSubstr("Seq Scan")));
    EXPECT_THAT(plan, Not(HasSubstr("cost=1000000")));
  }
  // One row after the other in the order of the index, so that all instances lock in the same order.
  static void expect_in_order_of(const std::string& index, const std::string& plan) {
    expect_by("Index Scan using " + index + " on ", plan);
    for (const char* other : {"Sort", "Hash", "Bitmap", "Merge"}) EXPECT_THAT(plan, Not(HasSubstr(other)));
  }

  static std::string page(const TaskQuery& query, bool history) {
    Params params;
    return page_statement({query, history ? kHistory : kTable, history}, params);
  }

  const test::TestDatabase database{ServerKind::postgres};
  Connection db{"host=127.0.0.1 port=" + std::to_string(test::shared_server_port(ServerKind::postgres)) +
                " user=easyretry password=secret sslmode=disable dbname=" + database.name()};
  PostgresSchema schema{db};
};

// A plan depends on the table at the session's first use of a statement, and stays. Often the table is empty then.
constexpr int kSizes[] = {0, 20, 20'000};

TEST_F(PostgresPlans, EveryChangeFindsItsRowsByThePrimaryKeyInItsOrder) {
  for (const int rows : kSizes) {
    fill(rows);
    for (const Statement* statement :
         {&statements::claim, &statements::forget, &statements::reschedule, &statements::renew, &statements::hold,
          &statements::hold_free, &statements::lock_tasks, &statements::update_tasks, &statements::remove_tasks,
          &statements::update_rules, &statements::find_tasks}) {
      SCOPED_TRACE(std::to_string(rows) + " rows: " + std::string{statement->name});
      expect_in_order_of("retry_task_pkey", plan(statement->with({{"table", kTable}})));
    }
    for (const Statement* statement : {&statements::lock_history, &statements::mark_requeued}) {
      SCOPED_TRACE(std::to_string(rows) + " rows: " + std::string{statement->name});
      expect_in_order_of("retry_task_history_202603_pkey", plan(statement->with({{"history", kHistory}})));
    }
    const auto finish = [&](const std::string& unless_there, bool noted = false) {
      return plan(statements::finish.with({{"table", kTable},
                                           {"history", kHistory},
                                           {"attempts", noted ? statements::attempts_of_part.text : ""},
                                           {"log", noted ? statements::with_attempt.text : "attempt_log"},
                                           {"unless_there", unless_there}}));
    };
    const std::string looking = finish(statements::unless_in_history.with({{"history", kHistory}}));
    expect_in_order_of("retry_task_pkey", looking);
    expect_by("Index Only Scan using retry_task_history_202603_pkey on ", looking);
    expect_in_order_of("retry_task_pkey", finish(""));
    expect_in_order_of("retry_task_pkey", finish("", true));
    db.run("TRUNCATE retry_task, retry_task_history_202603");
  }
}

TEST_F(PostgresPlans, AScanLooksAtARangeOfThePrimaryKey) {
  for (const int rows : kSizes) {
    fill(rows);
    for (const bool history : {false, true}) {
      const char* table = history ? kHistory : kTable;
      const std::string key = std::string{table} + "_pkey";
      for (const ListOrder order : {ListOrder::oldest_first, ListOrder::newest_first}) {
        const TaskQuery query{
            .name_space = "shop", .handler = "rare", .failed = true, .attempts_from = 2, .order = order};
        const ListWalk walk{query};
        expect_by(key, plan(statements::reach.with(
                           {{"table", table}, {"beyond", walk.beyond()}, {"direction", walk.direction()}})));
        Params params;
        const sql::Search scan{query, table, history, true, walk.up_to(TaskId{4711})};
        expect_by(key, plan(page_statement(scan, params)));
      }
    }
    db.run("TRUNCATE retry_task, retry_task_history_202603");
  }
}

// Also where the time is the server's own.
TEST_F(PostgresPlans, ALoadWalksTheDueIndexOfEachLane) {
  for (const int rows : kSizes) {
    fill(rows);
    for (const Statement* statement : {&statements::due, &statements::load}) {
      SCOPED_TRACE(std::to_string(rows) + " rows: " + std::string{statement->name});
      const std::string how = plan(statement->with({{"table", kTable}}));
      expect_in_order_of("retry_task_due", how);
      EXPECT_TRUE(std::regex_search(
          how, std::regex{R"(Index Cond: \(\(lane = \(b.b_lane\)::integer\) AND \(scan_time <= \$\d\) AND )"
                          R"(\(ROW\(scan_time, \(id \+ 0\)\) > ROW\(b.b_time, b.b_id\)\)\))"}))
          << how;
    }
    db.run("TRUNCATE retry_task, retry_task_history_202603");
  }
}

TEST_F(PostgresPlans, ALoadFindsTheInboxByItsIndex) {
  expect_by("using retry_inbox_waiting on ", plan(statements::load.with({{"table", kTable}})));
  expect_by("using retry_inbox_waiting on ", plan(statements::glance.str()));
}

TEST_F(PostgresPlans, AnInsertLooksUpIdsAndKeysByTheirIndexes) {
  struct Row {
    std::int64_t id;
  };
  const std::vector<Row> rows{{1}, {2}};
  Params params;
  RowColumns<Row> columns{params, rows};
  columns.numbers("id", [](const Row& row) { return row.id; });
  const std::string insert =
      statements::insert.with({{"table", kTable},
                               {"columns", columns.columns()},
                               {"values", columns.values()},
                               {"arrays", columns.arrays()},
                               {"varying", columns.varying()},
                               {"unless_ended", statements::insert_unless_ended.with({{"history", kHistory}})},
                               {"on_conflict", "ON CONFLICT DO NOTHING"}});
  for (const int there : kSizes) {
    fill(there);
    SCOPED_TRACE(there);
    const std::string how = plan(insert);
    expect_by("Index Only Scan using retry_task_history_202603_pkey", how);
    EXPECT_THAT(how, HasSubstr("Conflict Resolution: NOTHING"));
    EXPECT_THAT(how, Not(HasSubstr("Sort")));
    expect_by("Index Scan using retry_task_key on ", plan(statements::live_keys.with({{"table", kTable}})));
    db.run("TRUNCATE retry_task, retry_task_history_202603");
  }
}

TEST_F(PostgresPlans, TheKeysOfSeveralTablesAreLookedUpByTheirIndex) {
  schema.drop(kTable);  // its index on the key has the name of the table of keys
  schema.create_keys();
  expect_by("using retry_task_key_key on ", plan(statements::key_holders.str()));
}

TEST_F(PostgresPlans, KeysAndBusinessesAreFoundByTheirIndexes) {
  fill(20'000);
  for (const bool history : {false, true}) {
    const std::string table = history ? kHistory : kTable;
    for (const ListOrder order : {ListOrder::oldest_first, ListOrder::newest_first}) {
      expect_by("using " + table + "_key on ",
                plan(page({.name_space = "shop", .key = "key-7", .order = order}, history)));
      expect_by("using " + table + "_business on ",
                plan(page({.name_space = "shop", .business_id = "order-7", .order = order}, history)));
    }
    const Statement& find = history ? statements::find_ended : statements::find_tasks;
    expect_in_order_of(table + "_pkey", plan(find.with({{"table", table}})));
  }
}

TEST_F(PostgresPlans, ATypeAndAnIdOfABusinessAreFoundByTheIndexOverTheId) {
  fill(20'000);
  for (const bool history : {false, true}) {
    const TaskQuery query{.name_space = "shop", .business_type = "order", .business_id = "order-7"};
    expect_by("using " + std::string{history ? kHistory : kTable} + "_business on ", plan(page(query, history)));
  }
}

// The ids of tasks that were stored in some time are a range of the primary key.
TEST_F(PostgresPlans, TasksAreFoundByTheTimeTheyWereStoredThroughThePrimaryKey) {
  fill(20'000);
  const TimePoint march{std::chrono::sys_days{std::chrono::year{2026} / 3 / 1}};
  for (const bool history : {false, true}) {
    const std::string table = history ? kHistory : kTable;
    for (const TimeRange& time :
         {TimeRange{march, march + Millis{60'000}}, TimeRange{march, {}}, TimeRange{{}, march}}) {
      const TaskQuery query{.name_space = "shop", .created_at = time};
      const std::string how = plan(page(query, history));
      expect_in_order_of(table + "_pkey", how);
      const std::size_t conditions = how.find("Index Cond: ");
      ASSERT_NE(conditions, std::string::npos) << how;
      const std::string bounds = how.substr(conditions, how.find('\n', conditions) - conditions);
      EXPECT_EQ(bounds.find("id >= ") != std::string::npos, time.from.has_value()) << bounds;
      EXPECT_EQ(bounds.find("id < ") != std::string::npos, time.until.has_value()) << bounds;
    }
  }
}

TEST_F(PostgresPlans, ASweepOfHistoryGoesByTheEnd) {
  for (const int rows : kSizes) {
    fill(rows);
    SCOPED_TRACE(rows);
    expect_in_order_of("retry_task_history_202603_finished", plan(statements::ended.with({{"table", kHistory}})));
    expect_in_order_of("retry_task_history_202603_pkey",
                       plan(statements::remove_arguments.with({{"table", kHistory}})));
    db.run("TRUNCATE retry_task, retry_task_history_202603");
  }
}

TEST_F(PostgresPlans, AListGoesByTheIdAndSortsNothing) {
  fill(20'000);
  for (TaskQuery query : {TaskQuery{}, TaskQuery{.name_space = "shop"}, TaskQuery{.handler = "pay"},
                          TaskQuery{.name_space = "shop", .state = TaskState::running}}) {
    expect_in_order_of("retry_task_pkey", plan(page(query, false)));
    query.order = ListOrder::newest_first;
    expect_by("Index Scan Backward using retry_task_pkey on ", plan(page(query, false)));
    EXPECT_THAT(plan(page(query, false)), Not(HasSubstr("Sort")));
  }
}

TEST_F(PostgresPlans, AMoveGoesByTheIdAndSortsNothing) {
  schema.create_tasks("retry_task_a", sql::UniqueKeys::in_key_table);
  for (const int rows : kSizes) {
    fill(rows);
    SCOPED_TRACE(rows);
    for (const char* condition : {"", "AND shard = ANY($3::bigint[])"}) {
      expect_in_order_of(
          "retry_task_pkey",
          plan(statements::move.with({{"from", kTable}, {"to", "retry_task_a"}, {"condition", condition}})));
    }
    const std::string shard = shard_by_id(64);
    expect_in_order_of("retry_task_pkey", plan(statements::shard_page.with({{"table", kTable}, {"shard", shard}})));
    expect_by("retry_task_pkey", plan(statements::renumber.with({{"table", kTable}, {"shard", shard}})));
    db.run("TRUNCATE retry_task, retry_task_history_202603");
  }
}

// The same with real values: the server counts the rows that it reads by scanning tables.
TEST_F(PostgresPlans, AStoreAtWorkNeverScansATable) {
  fill(20'000);
  const auto sql =
      test::connect_plainly(ServerKind::postgres, test::shared_server_port(ServerKind::postgres), database.name());
  const auto scanned_rows = [&] {
    sql->run("SELECT pg_stat_clear_snapshot()");
    return sql->run("SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname LIKE 'retry_task%'");
  };
  const std::string before = scanned_rows();
  {
    const auto store = open_store(database.url() + "?sslmode=disable", system_clock());
    const NewTask task = test::a_task().name_space("shop");
    const auto inserted = store->insert({&task, 1}).value().tasks.at(0);
    const Ticket ticket{inserted.id, inserted.version};
    const auto won = store->claim({{&ticket, 1}, "worker", Millis{60'000}}).value().won;
    ASSERT_EQ(won.size(), 1U);
    Settlement settlement;
    settlement.ticket = {won[0].info.id, won[0].info.version};
    EXPECT_TRUE(store->settle({&settlement, 1}).value().applied.at(0));
    EXPECT_EQ(store->find({&ticket.id, 1}).value().size(), 1U);
  }
  EXPECT_EQ(scanned_rows(), before);
}

}  // namespace
}  // namespace easyretry::storage::postgres
