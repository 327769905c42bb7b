// What the hot statements cost, told by SQLite itself.

#include <string>
#include <utility>
#include <vector>

#include "storage/sqlite/id_list.h"
#include "storage/sqlite/migrations.h"
#include "storage/sqlite/query_sql.h"
#include "storage/sqlite/statements.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Not;

class SqlitePlans : public SqliteTest {
 protected:
  SqlitePlans() {
    migrate(db, false);
    add_id_list(db);
  }

  std::vector<std::string> column_of(const std::string& sql, int column) {
    Statement statement = db.prepare(sql);
    Rows rows{statement};
    std::vector<std::string> texts;
    while (rows.next()) texts.emplace_back(statement.text(column));
    return texts;
  }
  std::vector<std::string> plan(const std::string& sql) { return column_of("EXPLAIN QUERY PLAN " + sql, 3); }
  std::vector<std::string> opcodes(const std::string& sql) { return column_of("EXPLAIN " + sql, 1); }

  // So many tasks of shard 7, all due at once.
  void add_tasks(int count, TimePoint due) {
    db.run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + std::to_string(count) +
           ") INSERT INTO retry_state (version, status, method_name, next_retry_time, shard, namespace, "
           "updated_at) SELECT 1, 'PENDING', 'pay', " +
           std::to_string(ms(due)) + ", 7, 'shop', 0 FROM n");
  }
  static std::int64_t ms(TimePoint time) { return time.time_since_epoch().count(); }
  static int steps(Statement& load) {
    load.run();
    return sqlite3_stmt_status(load.get(), SQLITE_STMTSTATUS_VM_STEP, 0);
  }
  int steps_of_a_load() {
    Statement load = db.prepare(sql::load_later());
    return steps(load.bind(1, "shop").bind(2, 0).bind(3, ms(kMarch + 5s)));
  }

  Connection db{file(), Connection::Mode::create};
};

TEST_F(SqlitePlans, LoadWalksTheDueIndexFromItsCursorWithoutASort) {
  for (const bool statistics : {false, true}) {  // an ANALYZE by hand must not mislead it
    if (statistics) add_tasks(50, kMarch);
    if (statistics) db.run("ANALYZE");
    EXPECT_THAT(plan(sql::load_later()), ElementsAre("SEARCH retry_state USING INDEX retry_state_due "
                                                     "(namespace=? AND next_retry_time>? AND next_retry_time<?)"));
    EXPECT_THAT(plan(sql::load_same_time()), ElementsAre("SEARCH retry_state USING INDEX retry_state_due "
                                                         "(namespace=? AND next_retry_time=? AND rowid>?)"));
  }
}

TEST_F(SqlitePlans, ALiveKeyIsFoundByItsHashAndThenById) {
  EXPECT_THAT(plan(sql::bearers()), ElementsAre("SEARCH l USING PRIMARY KEY (part=? AND hash=?)",
                                                "SEARCH t USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
                                                "SEARCH c USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"));
}

TEST_F(SqlitePlans, EveryChangeOfTheLookupFindsItsEntryByThePrimaryKey) {
  for (const std::string& sql : {sql::make_former(), sql::remove_from_lookup()}) {
    EXPECT_THAT(plan(sql), ElementsAre("SEARCH retry_lookup USING PRIMARY KEY (part=? AND hash=? AND id=?)"));
  }
}

TEST_F(SqlitePlans, ASweepOfTheLookupWalksFromPlaceToPlace) {
  db.run(create_history("retry_state_202603"));
  EXPECT_THAT(plan(sql::lookup_place()), ElementsAre("SEARCH retry_lookup USING PRIMARY KEY ((part,hash,id)>(?,?,?))"));
  EXPECT_THAT(plan(sql::shorten("retry_state_202603"))[0], HasSubstr("USING INTEGER PRIMARY KEY (rowid<?)"));
  const auto sweep = plan(sql::sweep_lookup({"retry_state_202603"}));
  EXPECT_EQ(sweep[0], "SEARCH retry_lookup USING PRIMARY KEY ((part,hash,id)>(?,?,?) AND (part,hash,id)<(?,?,?))");
  EXPECT_THAT(sweep, ::testing::Contains("SEARCH t USING INTEGER PRIMARY KEY (rowid=?)"));
  EXPECT_THAT(sweep, ::testing::Contains("SEARCH h USING INTEGER PRIMARY KEY (rowid=?)"));
}

TEST_F(SqlitePlans, EveryChangeOfATaskFindsItsRowByThePrimaryKey) {
  db.run(create_history("retry_state_202603"));
  for (const std::string& sql :
       {sql::claim(), sql::live_record(), sql::renew(), sql::retry(), sql::advance(), sql::hand_back(), sql::forget(),
        sql::remove(), sql::revise(), sql::cancel_and_tell(), sql::finish_into("retry_state_202603"),
        sql::cancel_into("retry_state_202603"), sql::finished_record("retry_state_202603"),
        sql::requeue_from("retry_state_202603"), sql::copy_call(), sql::remove_call(), sql::update_rules()}) {
    EXPECT_THAT(plan(sql), Each(HasSubstr("USING INTEGER PRIMARY KEY (rowid=?)"))) << sql;
  }
}

TEST_F(SqlitePlans, AListOfIdsIsWalkedAndEachTaskFoundByThePrimaryKey) {
  for (const bool statistics : {false, true}) {
    if (statistics) add_tasks(50, kMarch);
    if (statistics) db.run("ANALYZE");
    EXPECT_THAT(plan(sql::live_records()),
                ElementsAre(HasSubstr("SCAN id_list"), HasSubstr("retry_state USING INTEGER PRIMARY KEY (rowid=?)"),
                            HasSubstr("retry_call USING INTEGER PRIMARY KEY (rowid=?)")));
  }
}

TEST_F(SqlitePlans, ClaimRenewAndHandBackTouchNoIndex) {
  for (const std::string& sql : {sql::claim(), sql::renew(), sql::hand_back()}) {
    EXPECT_THAT(opcodes(sql), Each(AllOf(Not("IdxInsert"), Not("IdxDelete")))) << sql;
  }
}

// The one over calls has rows only after a clock was set back, that of late ends only those that lived long.
TEST_F(SqlitePlans, WhatIsToBeDoneHasOneIndexAndAMonthOfHistoryOneAndAPart) {
  db.run(create_history("retry_state_202603"));
  EXPECT_THAT(
      column_of("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name", 0),
      ElementsAre("retry_call_out_of_order", "retry_state_202603_kinds", "retry_state_202603_late", "retry_state_due"));
}

TEST_F(SqlitePlans, AListGoesByKeyByBusinessOrByIdAndSortsNothing) {
  db.run(create_history("retry_state_202603"));
  const auto page = [&](const TaskQuery& query) {
    const QuerySql sql{query};
    return plan(sql.page(query.finished ? "retry_state_202603" : "retry_state", sql.parts().back()));
  };
  for (const TaskQuery& query : {TaskQuery{.key = "k"}, TaskQuery{.space = "shop", .key = "k"},
                                 TaskQuery{.key = "k", .business_id = "42"}, TaskQuery{.business_id = "42"}}) {
    EXPECT_THAT(page(query), ElementsAre("SEARCH retry_lookup USING PRIMARY KEY (part=? AND hash=? AND id>?)",
                                         HasSubstr("USING INTEGER PRIMARY KEY (rowid=?)"),
                                         HasSubstr("USING INTEGER PRIMARY KEY (rowid=?)")));
  }
  for (const TaskQuery& query :
       {TaskQuery{.finished = true, .key = "k"},
        TaskQuery{.space = "shop", .finished = true, .business_type = "order", .business_id = "42"}}) {
    EXPECT_EQ(page(query).front(), "SEARCH retry_lookup USING PRIMARY KEY (part=? AND hash=? AND id>?)");
    EXPECT_THAT(page(query),
                ::testing::UnorderedElementsAre(HasSubstr("SEARCH retry_lookup"),
                                                HasSubstr("retry_state_202603 USING INTEGER PRIMARY KEY (rowid=?)"),
                                                HasSubstr("retry_call USING INTEGER PRIMARY KEY (rowid=?)"),
                                                HasSubstr("retry_requeued USING INTEGER PRIMARY KEY (rowid=?)"),
                                                "USING ROWID SEARCH ON TABLE retry_requeued FOR IN-OPERATOR"));
  }
  for (const TaskQuery& query : {TaskQuery{}, TaskQuery{.space = "shop"}, TaskQuery{.space = "shop", .handler = "pay"},
                                 TaskQuery{.space = "shop", .state = TaskState::running}}) {
    EXPECT_THAT(page(query), ElementsAre(HasSubstr("USING INTEGER PRIMARY KEY (rowid>?)"),
                                         "SEARCH retry_call USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"));
  }
}

TEST_F(SqlitePlans, ACountOfANamespaceReadsAnIndexAndNoRows) {
  const TaskQuery query{.space = "shop"};
  EXPECT_THAT(plan(QuerySql{query}.count("retry_state", std::nullopt)), ElementsAre(HasSubstr("USING COVERING INDEX")));
}

TEST_F(SqlitePlans, ACountOfFailuresReadsAnIndexAndTheMarksAndNoRows) {
  db.run(create_history("retry_state_202603"));
  const TaskQuery query{.space = "shop", .finished = true, .handler = "pay", .outcome = Outcome::exhausted};
  EXPECT_THAT(plan(QuerySql{query}.count("retry_state_202603", std::nullopt)),
              ElementsAre(HasSubstr("USING COVERING INDEX retry_state_202603_kinds"),
                          "USING ROWID SEARCH ON TABLE retry_requeued FOR IN-OPERATOR"));
}

TEST_F(SqlitePlans, MarksOfAMonthAreFoundWithoutReadingTheMonth) {
  db.run(create_history("retry_state_202603"));
  EXPECT_THAT(plan(sql::remove_marks_of("retry_state_202603")),
              ::testing::Contains(HasSubstr("SEARCH h USING INTEGER PRIMARY KEY (rowid=?)")));
  EXPECT_THAT(plan(sql::shorten_marks("retry_state_202603"))[0], HasSubstr("USING INTEGER PRIMARY KEY (rowid<?)"));
}

TEST_F(SqlitePlans, ALoadCostsNothingForTasksThatAreNotDue) {
  add_tasks(10, kMarch);
  add_tasks(1000, kMarch + 1h);
  const int with_few = steps_of_a_load();
  add_tasks(100'000, kMarch + 1h);
  EXPECT_EQ(steps_of_a_load(), with_few);
}

// Rows that are due together were mostly stored together, and lie side by side.
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
  for (const DueTask& task : must(store().load({.space = "shop", .from = shards})).tasks) {
    loaded.push_back(task.id);
  }
  EXPECT_EQ(loaded, stored);
}

TEST_F(SqlitePlans, APageCostsNothingForTheTasksBeforeItThatAreDueAtTheSameTime) {
  add_tasks(20'000, kMarch);
  const auto last = db.integer("SELECT max(id) FROM retry_state");
  Statement load = db.prepare(sql::load_same_time());
  load.bind(1, "shop").bind(2, ms(kMarch)).bind(3, last - 10);
  EXPECT_LT(steps(load), 200);
}

}  // namespace
}  // namespace easyretry::storage::sqlite
