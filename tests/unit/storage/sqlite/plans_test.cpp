// The cost of the hot statements, as SQLite explains it.

#include <string>
#include <utility>
#include <vector>

#include "storage/record_columns.h"
#include "storage/sqlite/history_tables.h"
#include "storage/sqlite/migrations.h"
#include "storage/sqlite/search.h"
#include "storage/sqlite/statements.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::StartsWith;

class SqlitePlans : public SqliteTest {
 protected:
  SqlitePlans() { migrate(db, false); }

  std::vector<std::string> column_of(const std::string& sql, int column) {
    PreparedStatement statement = db.prepare(sql);
    Rows rows{statement};
    std::vector<std::string> texts;
    while (rows.next()) texts.emplace_back(statement.text(column));
    return texts;
  }
  static std::string for_table(const storage::Statement& statement) {
    return statement.with({{"table", "retry_state_202603"}});
  }
  std::vector<std::string> plan(const std::string& sql) { return column_of("EXPLAIN QUERY PLAN " + sql, 3); }
  std::vector<std::string> opcodes(const std::string& sql) { return column_of("EXPLAIN " + sql, 1); }

  // `count` tasks of shard 7, all due at the same time.
  void add_tasks(int count, TimePoint due) {
    db.run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + std::to_string(count) +
           ") INSERT INTO retry_state (version, status, method_name, next_retry_time, shard, namespace, "
           "updated_at) SELECT 1, 'PENDING', 'pay', " +
           std::to_string(ms(due)) + ", 7, 'shop', 0 FROM n");
  }
  static std::int64_t ms(TimePoint time) { return time.time_since_epoch().count(); }
  static int steps(PreparedStatement& load) {
    load.run();
    return sqlite3_stmt_status(load.get(), SQLITE_STMTSTATUS_VM_STEP, 0);
  }
  int steps_of_a_load() {
    PreparedStatement load = db.prepare(statements::load_later.str());
    return steps(load.bind(1, "shop").bind(2, 0).bind(3, ms(kMarch + 5s)));
  }

  Connection db = open_writer(file(), Connection::Mode::create);
};

TEST_F(SqlitePlans, TheHotStatementsGoByAnIndexAndScanNoTable) {
  create_month(db, "retry_state_202603");
  namespace sql = statements;
  std::vector<std::string> hot{for_table(sql::finish_into), for_table(sql::finished_record),
                               for_table(sql::finished_records)};
  for (const auto* fixed : {&sql::load_same_time, &sql::load_later, &sql::claim, &sql::live_records, &sql::renew,
                            &sql::retry, &sql::advance, &sql::hand_back, &sql::hand_back_later, &sql::forget,
                            &sql::remove, &sql::names, &sql::live_keys, &sql::live_record}) {
    hot.push_back(fixed->str());
  }
  const auto by_an_index = AllOf(StartsWith("SEARCH "), AnyOf(HasSubstr("PRIMARY KEY"), HasSubstr("USING INDEX")));
  for (const bool statistics : {false, true}) {
    if (statistics) add_tasks(50, kMarch);
    if (statistics) db.run("ANALYZE");
    for (const std::string& statement : hot) {
      EXPECT_THAT(plan(statement), Each(AnyOf(by_an_index, StartsWith("SCAN id_list VIRTUAL TABLE")))) << statement;
      EXPECT_THAT(plan(statement), Not(::testing::IsEmpty())) << statement;
    }
    for (const auto* insert : {&sql::insert, &sql::insert_call, &sql::add_to_lookup, &sql::add_to_count}) {
      EXPECT_THAT(plan(insert->str()), ::testing::IsEmpty()) << "writes one row and searches none: " << insert->text;
    }
  }
}

// read_record and pages of a search take their order from there.
TEST_F(SqlitePlans, WholeRecordsHaveTheColumnsOfARecordInItsOrder) {
  EXPECT_THAT(statements::live_record.str(), HasSubstr("SELECT " + live_columns() + ", attempt_log FROM "));
  EXPECT_THAT(statements::live_records.str(), HasSubstr("SELECT " + live_columns() + " FROM "));
  EXPECT_THAT(statements::finished_records.str(), HasSubstr("SELECT " + finished_columns() + " FROM "));
  std::string with_result = finished_columns();
  with_result.replace(with_result.find("result_json"), 0, "retry_result.");
  EXPECT_THAT(statements::finished_record.str(), HasSubstr("SELECT " + with_result + ", attempt_log FROM "));
}

TEST_F(SqlitePlans, LoadWalksTheDueIndexFromItsCursorWithoutASort) {
  for (const bool statistics : {false, true}) {  // a manual ANALYZE must not mislead it
    if (statistics) add_tasks(50, kMarch);
    if (statistics) db.run("ANALYZE");
    EXPECT_THAT(plan(statements::load_later.str()),
                ElementsAre("SEARCH retry_state USING INDEX retry_state_due "
                            "(namespace=? AND next_retry_time>? AND next_retry_time<?)"));
    EXPECT_THAT(plan(statements::load_same_time.str()), ElementsAre("SEARCH retry_state USING INDEX retry_state_due "
                                                                    "(namespace=? AND next_retry_time=? AND rowid>?)"));
  }
}

TEST_F(SqlitePlans, ALiveKeyIsFoundByItsHashAndThenById) {
  EXPECT_THAT(plan(statements::live_keys.str()), ElementsAre("SEARCH l USING PRIMARY KEY (part=? AND hash=?)",
                                                             "SEARCH t USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
                                                             "SEARCH c USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"));
}

TEST_F(SqlitePlans, EveryChangeOfTheLookupFindsItsEntryByThePrimaryKey) {
  for (const std::string& sql : {statements::make_former.str(), statements::remove_from_lookup.str()}) {
    EXPECT_THAT(plan(sql), ElementsAre("SEARCH retry_lookup USING PRIMARY KEY (part=? AND hash=? AND id=?)"));
  }
}

TEST_F(SqlitePlans, ASweepOfTheLookupWalksFromPlaceToPlace) {
  create_month(db, "retry_state_202603");
  EXPECT_THAT(plan(statements::lookup_place.str()),
              ElementsAre("SEARCH retry_lookup USING PRIMARY KEY ((part,hash,id)>(?,?,?))"));
  EXPECT_THAT(plan(for_table(statements::shorten))[0], HasSubstr("USING INTEGER PRIMARY KEY (rowid<?)"));
  const auto sweep = plan(statements::sweep_lookup.str() +
                          " AND NOT EXISTS (SELECT 1 FROM retry_state_202603 h WHERE h.id = retry_lookup.id)");
  EXPECT_EQ(sweep[0], "SEARCH retry_lookup USING PRIMARY KEY ((part,hash,id)>(?,?,?) AND (part,hash,id)<(?,?,?))");
  EXPECT_THAT(sweep, ::testing::Contains("SEARCH t USING INTEGER PRIMARY KEY (rowid=?)"));
  EXPECT_THAT(sweep, ::testing::Contains("SEARCH h USING INTEGER PRIMARY KEY (rowid=?)"));
}

TEST_F(SqlitePlans, EveryChangeOfATaskFindsItsRowByThePrimaryKey) {
  create_month(db, "retry_state_202603");
  for (const std::string& sql :
       {statements::claim.str(), statements::live_record.str(), statements::renew.str(), statements::retry.str(),
        statements::advance.str(), statements::hand_back.str(), statements::forget.str(), statements::remove.str(),
        statements::revise.str(), statements::end_and_tell.str(), statements::decided.str(),
        for_table(statements::finish_into), for_table(statements::end_into), for_table(statements::finished_record),
        for_table(statements::requeue_from), statements::copy_call.str(), statements::remove_call.str(),
        statements::update_rules.str()}) {
    EXPECT_THAT(plan(sql), Each(HasSubstr("USING INTEGER PRIMARY KEY (rowid=?)"))) << sql;
  }
}

TEST_F(SqlitePlans, ASweepOfRetentionFindsItsRowsByThePrimaryKey) {
  create_month(db, "retry_state_202603");
  for (const std::string& sql : {for_table(statements::expire_task), statements::remove_requeued_mark.str(),
                                 for_table(statements::expire_arguments)}) {
    EXPECT_THAT(plan(sql), Each(AnyOf(HasSubstr("USING INTEGER PRIMARY KEY (rowid=?)"), HasSubstr("SUBQUERY")))) << sql;
  }
}

TEST_F(SqlitePlans, AListOfIdsIsWalkedAndEachTaskFoundByThePrimaryKey) {
  for (const bool statistics : {false, true}) {
    if (statistics) add_tasks(50, kMarch);
    if (statistics) db.run("ANALYZE");
    EXPECT_THAT(plan(statements::live_records.str()),
                ElementsAre(HasSubstr("SCAN id_list"), HasSubstr("retry_state USING INTEGER PRIMARY KEY (rowid=?)"),
                            HasSubstr("retry_call USING INTEGER PRIMARY KEY (rowid=?)")));
  }
}

TEST_F(SqlitePlans, ClaimRenewAndHandBackTouchNoIndex) {
  for (const std::string& sql : {statements::claim.str(), statements::renew.str(), statements::hand_back.str()}) {
    EXPECT_THAT(opcodes(sql), Each(AllOf(Not("IdxInsert"), Not("IdxDelete")))) << sql;
  }
}

// The index over calls has rows only after a clock was set back, the one of late ends only tasks that lived long, the
// one of results those that are kept.
TEST_F(SqlitePlans, LiveTasksHaveOneIndexAndAMonthOfHistoryHasOneAndAPartialOne) {
  create_month(db, "retry_state_202603");
  EXPECT_THAT(column_of("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name", 0),
              ElementsAre("retry_call_out_of_order", "retry_result_keep_until", "retry_state_202603_kinds",
                          "retry_state_202603_late", "retry_state_due"));
}

TEST_F(SqlitePlans, AListGoesByKeyByBusinessOrByIdAndSortsNothing) {
  create_month(db, "retry_state_202603");
  for (const ListOrder order : {ListOrder::oldest_first, ListOrder::newest_first}) {
    const auto page = [&](TaskQuery query) {
      query.order = order;
      const QuerySql sql{query};
      return plan(sql.page(query.finished ? "retry_state_202603" : "retry_state", sql.parts().back()));
    };
    const std::string beyond = order == ListOrder::newest_first ? "<" : ">";
    const std::string by_lookup = "SEARCH retry_lookup USING PRIMARY KEY (part=? AND hash=? AND id" + beyond + "?)";
    for (const TaskQuery& query : {TaskQuery{.key = "k"}, TaskQuery{.name_space = "shop", .key = "k"},
                                   TaskQuery{.key = "k", .business_id = "42"}, TaskQuery{.business_id = "42"}}) {
      EXPECT_THAT(page(query), ElementsAre(by_lookup, HasSubstr("USING INTEGER PRIMARY KEY (rowid=?)"),
                                           HasSubstr("USING INTEGER PRIMARY KEY (rowid=?)")));
    }
    for (const TaskQuery& query :
         {TaskQuery{.finished = true, .key = "k"},
          TaskQuery{.name_space = "shop", .finished = true, .business_type = "order", .business_id = "42"}}) {
      EXPECT_EQ(page(query).front(), by_lookup);
      EXPECT_THAT(page(query),
                  ::testing::UnorderedElementsAre(HasSubstr("SEARCH retry_lookup"),
                                                  HasSubstr("retry_state_202603 USING INTEGER PRIMARY KEY (rowid=?)"),
                                                  HasSubstr("retry_call USING INTEGER PRIMARY KEY (rowid=?)"),
                                                  HasSubstr("retry_requeued USING INTEGER PRIMARY KEY (rowid=?)"),
                                                  "USING ROWID SEARCH ON TABLE retry_requeued FOR IN-OPERATOR"));
    }
    for (const TaskQuery& query :
         {TaskQuery{}, TaskQuery{.name_space = "shop"}, TaskQuery{.name_space = "shop", .handler = "pay"},
          TaskQuery{.name_space = "shop", .state = TaskState::running}}) {
      EXPECT_THAT(page(query), ElementsAre(HasSubstr("USING INTEGER PRIMARY KEY (rowid" + beyond + "?)"),
                                           "SEARCH retry_call USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"));
    }
  }
}

// The ids of tasks that were stored in some time are a range of the primary key, but for tasks that were stored after
// the clock had been set back. Those have an index.
TEST_F(SqlitePlans, TasksAreCountedByTheTimeTheyWereStoredThroughThePrimaryKey) {
  create_month(db, "retry_state_202603");
  for (const bool history : {false, true}) {
    const TaskQuery query{.name_space = "shop", .finished = history, .created_at = {kMarch, kMarch + 1h}};
    const auto count = plan(QuerySql{query}.count(history ? "retry_state_202603" : "retry_state", std::nullopt));
    EXPECT_THAT(count, ::testing::Contains(HasSubstr("USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)")));
    EXPECT_THAT(count, ::testing::Contains(HasSubstr("INDEX retry_call_out_of_order (created_at>?")));
    EXPECT_THAT(count, Each(AnyOf(HasSubstr("USING"), HasSubstr("SCALAR SUBQUERY"), HasSubstr("SCAN CONSTANT ROW"))));
  }
}

TEST_F(SqliteTest, APageOfTasksByTheTimeTheyWereStoredReadsNoOthers) {
  open();
  const auto insert_many = [&] {
    std::vector<NewTask> tasks;
    for (int i = 0; i < 2000; ++i) tasks.push_back(a_task());
    must(store().insert(tasks));
  };
  insert_many();
  clock.advance(24h);
  const TimePoint then = clock.now();
  const TaskId wanted = insert(a_task()).id;
  clock.advance(24h);
  insert_many();
  Connection reader = open_reader(file(), 1024);
  int steps = 0;
  const auto count_steps = [](unsigned, void* into, void* statement, void*) {
    *static_cast<int*>(into) +=
        sqlite3_stmt_status(static_cast<sqlite3_stmt*>(statement), SQLITE_STMTSTATUS_VM_STEP, 1);
    return 0;
  };
  sqlite3_trace_v2(reader.get(), SQLITE_TRACE_PROFILE, count_steps, &steps);
  const auto found = search_live(reader, {.created_at = {then, then + 1h}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].info.id, wanted);
  EXPECT_LT(steps, 500) << "with 4,000 others, a scan takes tens of thousands";
}

TEST_F(SqlitePlans, ACountOfANamespaceReadsAnIndexAndNoRows) {
  const TaskQuery query{.name_space = "shop"};
  EXPECT_THAT(plan(QuerySql{query}.count("retry_state", std::nullopt)), ElementsAre(HasSubstr("USING COVERING INDEX")));
}

TEST_F(SqlitePlans, ACountOfFailuresReadsAnIndexAndTheMarksAndNoRows) {
  create_month(db, "retry_state_202603");
  const TaskQuery query{.name_space = "shop", .finished = true, .handler = "pay", .outcome = Outcome::exhausted};
  EXPECT_THAT(plan(QuerySql{query}.count("retry_state_202603", std::nullopt)),
              ElementsAre(HasSubstr("USING COVERING INDEX retry_state_202603_kinds"),
                          "USING ROWID SEARCH ON TABLE retry_requeued FOR IN-OPERATOR"));
}

TEST_F(SqlitePlans, MarksOfAMonthAreFoundWithoutReadingTheMonth) {
  create_month(db, "retry_state_202603");
  EXPECT_THAT(plan(for_table(statements::remove_marks_of)),
              ::testing::Contains(HasSubstr("SEARCH h USING INTEGER PRIMARY KEY (rowid=?)")));
  EXPECT_THAT(plan(for_table(statements::shorten_marks))[0], HasSubstr("USING INTEGER PRIMARY KEY (rowid<?)"));
}

TEST_F(SqlitePlans, ALoadCostsNothingForTasksThatAreNotDue) {
  add_tasks(10, kMarch);
  add_tasks(1000, kMarch + 1h);
  const int with_few = steps_of_a_load();
  add_tasks(100'000, kMarch + 1h);
  EXPECT_EQ(steps_of_a_load(), with_few);
}

// Rows that are due together were usually stored together, and lie side by side.
TEST_F(SqliteTest, LoadGivesTheTasksOfAllShardsInTheOrderOfTheirTurn) {
  open();
  std::vector<TaskId> stored;
  for (int i = 0; i < 40; ++i) {
    stored.push_back(insert(a_task()).id);
    clock.advance(1ms);
  }
  std::vector<ShardCursor> shards;
  for (std::uint16_t shard = 0; shard < 64; ++shard) shards.push_back({ShardId{shard}});
  std::vector<TaskId> loaded;
  for (const DueTask& task : must(store().load({.name_space = "shop", .from = shards})).tasks) {
    loaded.push_back(task.id);
  }
  EXPECT_EQ(loaded, stored);
}

TEST_F(SqlitePlans, APageCostsNothingForTheTasksBeforeItThatAreDueAtTheSameTime) {
  add_tasks(20'000, kMarch);
  const auto last = db.integer("SELECT max(id) FROM retry_state");
  PreparedStatement load = db.prepare(statements::load_same_time.str());
  load.bind(1, "shop").bind(2, ms(kMarch)).bind(3, last - 10);
  EXPECT_LT(steps(load), 200);
}

}  // namespace
}  // namespace easyretry::storage::sqlite
