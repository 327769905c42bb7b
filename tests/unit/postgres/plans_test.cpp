// How the server goes about the hot statements, told by itself: with the settings and the generic plans of a session.

#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/open.h"
#include "storage/postgres/connection.h"
#include "storage/postgres/row_columns.h"
#include "storage/postgres/statements.h"
#include "storage/record_columns.h"
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
    db.run(statements::kSettings);
    db.run(statements::create_tasks(kTable, sql::KeysIn::tasks));
    db.run(statements::create_history(kHistory));
    db.run(statements::create_meta());
    db.run(statements::create_inbox());
  }

  // Rows of one namespace and 64 lanes, each with a key and a business of its own.
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

  // The plan that a session would make once and keep, whatever it is given.
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

  // With enable_seqscan off, what cannot do without one still has it, at a cost of ten thousand millions.
  static void expect_by(const std::string& index, const std::string& plan) {
    EXPECT_THAT(plan, HasSubstr(index));
    EXPECT_THAT(plan, Not(HasSubstr("Seq Scan")));
    EXPECT_THAT(plan, Not(HasSubstr("cost=1000000")));
  }
  // One after the other as the index has them, so that all lock in the same order.
  static void expect_in_order_of(const std::string& index, const std::string& plan) {
    expect_by("Index Scan using " + index + " on ", plan);
    for (const char* other : {"Sort", "Hash", "Bitmap", "Merge"}) EXPECT_THAT(plan, Not(HasSubstr(other)));
  }

  static std::string page(const TaskQuery& query, bool history) {
    Params params;
    const std::string table = history ? kHistory : kTable;
    const std::string where = statements::where({query, table, history}, params);
    return "SELECT " + (history ? finished_columns() : live_columns()) + " FROM " + table + where + " AND id > $" +
           std::to_string(params.size() + 1) + " ORDER BY id LIMIT $" + std::to_string(params.size() + 2);
  }

  const test::TestDatabase database{ServerKind::postgres};
  Connection db{"host=127.0.0.1 port=" + std::to_string(test::shared_server_port(ServerKind::postgres)) +
                " user=easyretry password=secret sslmode=disable dbname=" + database.name()};
};

// A plan is made by what the table is like at a session's first use of it, and stays: often it is empty then.
constexpr int kSizes[] = {0, 20, 20'000};

TEST_F(PostgresPlans, EveryChangeFindsItsRowsByThePrimaryKeyInItsOrder) {
  for (const int rows : kSizes) {
    fill(rows);
    for (const std::string& sql :
         {statements::claim(kTable), statements::finish(kTable, kHistory, Duplicates::are_left_out),
          statements::forget(kTable), statements::reschedule(kTable), statements::renew(kTable),
          statements::hold(kTable), statements::lock(kTable), statements::update(kTable), statements::remove(kTable),
          statements::update_rules(kTable), statements::find(kTable, false)}) {
      SCOPED_TRACE(std::to_string(rows) + " rows: " + sql.substr(0, 200));
      expect_in_order_of("retry_task_pkey", plan(sql));
    }
    db.run("TRUNCATE retry_task, retry_task_history_202603");
  }
}

// Also where the time is the server's own.
TEST_F(PostgresPlans, ALoadWalksTheDueIndexOfEachLane) {
  for (const int rows : kSizes) {
    fill(rows);
    for (const std::string& sql : {statements::due(kTable), statements::load(kTable)}) {
      SCOPED_TRACE(std::to_string(rows) + " rows: " + sql.substr(0, 200));
      const std::string how = plan(sql);
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
  for (const std::string& sql : {statements::load(kTable), statements::glance()}) {
    expect_by("using retry_inbox_waiting on ", plan(sql));
  }
}

TEST_F(PostgresPlans, AnInsertLooksUpIdsAndKeysByTheirIndexes) {
  struct Row {
    std::int64_t id;
  };
  const std::vector<Row> rows{{1}, {2}};
  Params params;
  RowColumns<Row> columns{params, rows};
  columns.numbers("id", [](const Row& row) { return row.id; });
  const std::string insert = statements::insert(kTable, columns.insert_list(), kHistory, Duplicates::are_left_out);
  for (const int there : kSizes) {
    fill(there);
    SCOPED_TRACE(there);
    const std::string how = plan(insert);
    expect_by("Index Only Scan using retry_task_history_202603_pkey", how);
    EXPECT_THAT(how, HasSubstr("Conflict Resolution: NOTHING"));
    EXPECT_THAT(how, Not(HasSubstr("Sort")));
    expect_by("Index Scan using retry_task_key on ", plan(statements::live_keys(kTable)));
    db.run("TRUNCATE retry_task, retry_task_history_202603");
  }
}

TEST_F(PostgresPlans, KeysAndBusinessesAreFoundByTheirIndexes) {
  fill(20'000);
  for (const bool history : {false, true}) {
    const std::string table = history ? kHistory : kTable;
    expect_by("using " + table + "_key on ", plan(page({.space = "shop", .key = "key-7"}, history)));
    expect_by("using " + table + "_business on ", plan(page({.space = "shop", .business_id = "order-7"}, history)));
    expect_in_order_of(table + "_pkey", plan(statements::find(table, history)));
  }
}

TEST_F(PostgresPlans, AListGoesByTheIdAndSortsNothing) {
  fill(20'000);
  for (const TaskQuery& query : {TaskQuery{}, TaskQuery{.space = "shop"}, TaskQuery{.handler = "pay"},
                                 TaskQuery{.space = "shop", .state = TaskState::running}}) {
    expect_in_order_of("retry_task_pkey", plan(page(query, false)));
  }
}

// The real ones, with real values.
TEST_F(PostgresPlans, AStoreAtWorkNeverReadsAWholeTable) {
  fill(20'000);
  const auto sql =
      test::connect_plainly(ServerKind::postgres, test::shared_server_port(ServerKind::postgres), database.name());
  const auto whole_reads = [&] {
    sql->run("SELECT pg_stat_clear_snapshot()");
    return sql->run("SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname LIKE 'retry_task%'");
  };
  const std::string before = whole_reads();
  {
    const auto store = open_store(database.url() + "?sslmode=disable", system_clock());
    const NewTask task = test::a_task().space("shop");
    const auto inserted = store->insert({&task, 1}).value().tasks.at(0);
    const Ticket ticket{inserted.id, inserted.version};
    const auto won = store->claim({{&ticket, 1}, "worker", Millis{60'000}}).value().won;
    ASSERT_EQ(won.size(), 1U);
    Settlement settlement;
    settlement.ticket = {won[0].info.id, won[0].info.version};
    EXPECT_TRUE(store->settle({&settlement, 1}).value().applied.at(0));
    EXPECT_EQ(store->find({&ticket.id, 1}).value().size(), 1U);
  }
  EXPECT_EQ(whole_reads(), before);
}

}  // namespace
}  // namespace easyretry::storage::postgres
