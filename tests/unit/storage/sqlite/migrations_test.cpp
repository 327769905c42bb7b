#include "storage/sqlite/migrations.h"

#include "storage/sqlite/store_file.h"
#include "task/attempt_log.h"
#include "unit/storage/sqlite/faulty_disk.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

class SqliteMigrations : public SqliteTest {
 protected:
  std::string schema() {
    return Connection{file(), Connection::Mode::create}.text(
        "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema ORDER BY name)");
  }
  void drop_column(const std::string& column, const std::vector<std::string>& months) {
    std::string drop = "ALTER TABLE retry_state DROP COLUMN " + column + ";";
    for (const std::string& month : months) drop += "ALTER TABLE retry_state_" + month + " DROP COLUMN " + column + ";";
    by_hand(drop);
  }
  // Takes back versions 8 and 10.
  void drop_attempts(const std::vector<std::string>& months) {
    drop_column("task_class", months);
    drop_column("attempt_log", months);
  }
};

TEST_F(SqliteMigrations, AreNumberedFromOneWithoutGaps) {
  int expected = 1;
  for (const Migration& step : migrations()) EXPECT_EQ(step.version, expected++);
}

TEST_F(SqliteMigrations, RunOnceHoweverOftenTheStoreIsOpened) {
  open();
  close();
  const std::string first = schema();
  open();
  close();
  EXPECT_EQ(schema(), first);
  EXPECT_EQ(ask("SELECT value FROM retry_meta WHERE name = 'schema_version'"), migrations().back().version);
  EXPECT_EQ(ask("PRAGMA application_id"), kApplicationId);
}

TEST_F(SqliteMigrations, OldTasksCountAsStoredOnFormerDays) {
  {
    Connection db{file(), Connection::Mode::create};
    db.run("PRAGMA journal_mode = WAL");
    db.run(migrations().front().sql);
    db.run("PRAGMA application_id = " + std::to_string(kApplicationId));
    db.run("INSERT INTO retry_meta VALUES ('schema_version', '1')");
    db.run(
        "INSERT INTO retry_state (id, version, status, method_name, next_retry_time, shard, namespace, updated_at) "
        "VALUES (1, 1, 'PENDING', 'pay', 0, 0, 'shop', 0), (2, 1, 'PENDING', 'pay', 0, 0, 'shop', 0)");
  }
  open();
  insert(a_task());
  const HandlerCounts counts = must(store().counts("shop"))["pay"];
  EXPECT_EQ(counts.live(), 3);
  ASSERT_EQ(counts.days.size(), 1U);
  EXPECT_EQ(counts.days.begin()->second.stored, 1);
}

TEST_F(SqliteMigrations, AMonthFromBeforeGetsItsIndexes) {
  open();
  finish(a_task().handler("ship"));
  close();
  const std::string newest = schema();
  drop_attempts({"202603"});
  by_hand(
      "DROP INDEX retry_state_202603_kinds; DROP INDEX retry_state_202603_late; DROP INDEX retry_call_out_of_order; "
      "DROP TABLE retry_requeued; DROP TABLE retry_retention; DROP TABLE retry_result; DROP TABLE retry_series; "
      "UPDATE retry_meta SET value = '3' WHERE name = 'schema_version'");
  open();
  EXPECT_EQ(must(store().list({.name_space = "shop", .finished = true, .handler = "ship"})).size(), 1U);
  close();
  EXPECT_EQ(schema(), newest);
}

TEST_F(SqliteMigrations, TasksThatEndedBeforeThereWereMarksAreRequeuedAndMarked) {
  open();
  finish(a_task().key("march"), Outcome::exhausted);
  clock.advance(31 * 24h);
  finish(a_task().key("april"), Outcome::exhausted);
  close();
  const std::string newest = schema();
  std::string old =
      "DROP TABLE retry_requeued; DROP TABLE retry_retention; DROP TABLE retry_result; DROP TABLE retry_series; "
      "UPDATE retry_meta SET value = '4' WHERE name = 'schema_version';";
  for (const std::string month : {"202603", "202604"}) {
    old += "DROP VIEW retry_task_history_" + month + "; CREATE VIEW retry_task_history_" + month +
           " AS SELECT *, 'FINISHED' AS status, finished_at AS updated_at FROM retry_state_" + month +
           " LEFT JOIN retry_call USING (id);";
  }
  drop_attempts({"202603", "202604"});
  by_hand(old);

  open();
  const auto failed = must(store().list({.finished = true, .outcome = Outcome::exhausted}));
  ASSERT_EQ(failed.size(), 2U);
  for (const TaskRecord& record : failed) {
    const TaskId id = record.info.id;
    const auto fresh = must(store().requeue({&id, 1})).at(0);
    ASSERT_TRUE(fresh);
    EXPECT_EQ(must(store().find({&id, 1})).at(0).info.requeued_as, fresh);
  }
  EXPECT_EQ(must(store().count({.finished = true})), 0);
  EXPECT_EQ(must(store().count({.finished = true, .requeued = true})), 2);
  close();
  for (const std::string month : {"202603", "202604"}) {
    EXPECT_EQ(ask("SELECT count(requeued_as) FROM retry_task_history_" + month), 1) << "and people see it";
  }
  EXPECT_EQ(schema(), newest);
}

TEST_F(SqliteMigrations, TasksThatEndedBeforeThereWereRulesOfRetentionFollowThem) {
  open();
  finish(a_task().handler("pay"));
  finish(a_task().handler("ship"));
  close();
  const std::string newest = schema();
  drop_attempts({"202603"});
  by_hand(
      "DROP TABLE retry_retention; DROP TABLE retry_result; DROP TABLE retry_series; UPDATE retry_meta SET value = '5' "
      "WHERE name = "
      "'schema_version'");
  clock.advance(24h);
  open();
  const Retention rule{.name_space = "shop", .handler = "pay", .keep = 1h};
  while (must(store().expire({&rule, 1}))) {
  }
  EXPECT_EQ(must(store().count({.finished = true, .handler = "pay"})), 0);
  EXPECT_EQ(must(store().count({.finished = true, .handler = "ship"})), 1);
  close();
  EXPECT_EQ(schema(), newest);
}

TEST_F(SqliteMigrations, OldTasksGetNotesOfTheirNextAttempts) {
  open();
  finish(a_task().key("ended"));
  const Inserted waiting = insert(a_task());
  close();
  const std::string newest = schema();
  drop_attempts({"202603"});
  by_hand("DROP TABLE retry_series; UPDATE retry_meta SET value = '7' WHERE name = 'schema_version'");

  open();
  const Ticket ticket{waiting.id, waiting.version};
  const auto won = must(store().claim({.tickets = {&ticket, 1}, .owner = "first", .lease = 1s})).won;
  ASSERT_EQ(won.size(), 1U);
  clock.advance(2s);
  const Ticket again{waiting.id, won[0].info.version};
  ASSERT_EQ(must(store().claim({.tickets = {&again, 1}, .owner = "second", .lease = 1s})).won.size(), 1U);
  Settlement end;
  end.ticket = {waiting.id, again.version + 1};
  end.attempt = task::attempt_line({.number = 1, .began_at = {}, .ended_at = clock.now()});
  EXPECT_TRUE(must(store().settle({&end, 1})).applied.at(0));
  EXPECT_EQ(must(store().find({&waiting.id, 1})).at(0).info.last_attempts.size(), 2U);
  EXPECT_EQ(must(store().count({.finished = true})), 2);
  close();
  EXPECT_EQ(schema(), newest);
}

TEST_F(SqliteMigrations, TasksFromBeforeThereWereClassesAreNormal) {
  open();
  finish(a_task().key("ended"));
  const Inserted waiting = insert(a_task());
  close();
  const std::string newest = schema();
  drop_column("task_class", {"202603"});
  by_hand("UPDATE retry_meta SET value = '9' WHERE name = 'schema_version'");

  open();
  EXPECT_EQ(must(store().find({&waiting.id, 1})).at(0).info.task_class, TaskClass::normal);
  EXPECT_EQ(must(store().list({.finished = true})).at(0).info.task_class, TaskClass::normal);
  const Inserted fresh = insert(a_task().of_class(TaskClass::urgent));
  EXPECT_EQ(must(store().find({&fresh.id, 1})).at(0).info.task_class, TaskClass::urgent);
  close();
  EXPECT_EQ(schema(), newest);
}

TEST_F(SqliteMigrations, AClassThatNoReleaseWroteIsReadAsNormal) {
  open();
  const Inserted task = insert(a_task().of_class(TaskClass::urgent));
  close();
  by_hand("UPDATE retry_state SET task_class = 17");
  open();
  EXPECT_EQ(must(store().find({&task.id, 1})).at(0).info.task_class, TaskClass::normal);
}

TEST_F(SqliteMigrations, ACreationCutShortStartsAgain) {
  by_hand("PRAGMA journal_mode = WAL");  // the first thing an opening writes
  ASSERT_GT(std::filesystem::file_size(file()), 0U);
  open();
  EXPECT_TRUE(insert(a_task()).created);
}

TEST_F(SqliteMigrations, AStepThatFailsLeavesNothingHalfDone) {
  FaultyDisk disk;
  Connection db{file(), Connection::Mode::create};
  db.run("PRAGMA journal_mode = WAL");
  disk.fill();
  EXPECT_THROW(migrate(db, false), SqliteError);
  EXPECT_EQ(db.integer("SELECT count(*) FROM sqlite_schema"), 0);
  EXPECT_EQ(db.integer("PRAGMA application_id"), 0);
  disk.free();
  migrate(db, false);
  EXPECT_EQ(db.integer("SELECT count(*) FROM retry_task"), 0);
}

TEST_F(SqliteMigrations, TheTableHasTheColumnsOfTheSpecification) {
  open();
  close();
  for (const char* column :
       {"id",           "task_key",        "method_name",    "params_json",        "status",           "attempt_count",
        "max_attempts", "next_retry_time", "deadline",       "max_retry_duration", "backoff_strategy", "created_at",
        "updated_at",   "first_failed_at", "last_error_msg", "last_error_time",    "version",          "locked_by",
        "locked_at",    "business_id",     "business_type"}) {
    EXPECT_EQ(ask(std::string{"SELECT count(*) FROM pragma_table_info('retry_task') WHERE name = '"} + column + "'"), 1)
        << column;
  }
}

}  // namespace
}  // namespace easyretry::storage::sqlite
