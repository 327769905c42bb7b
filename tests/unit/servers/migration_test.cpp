// Versions of a server's schema. tests/data has databases that an earlier release made.

#include <atomic>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include <gmock/gmock.h>

#include <easyretry/engine.h>

#include "fault/each_server.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "support/plain_sql.h"
#include "support/refusal.h"
#include "support/test_database.h"
#include "support/together.h"

namespace easyretry::storage {
namespace {

using fault::kind_name;
using fault::OnEachServer;
using test::ServerKind;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kNewest = 7;

class Migrations : public OnEachServer {
 protected:
  // A connection of its own.
  std::unique_ptr<test::PlainSql> by_hand() const {
    return test::connect_plainly(GetParam(), test::shared_server_port(GetParam()), database.name());
  }
  // Its tasks ended in November 2026, and stay in history.
  std::string url() const { return database.url() + "?keep_months=10000"; }

  // Runs a file of statements that end with their lines.
  void restore(const std::string& name) const {
    std::ifstream file{std::string{EASYRETRY_ROOT} + "/tests/data/" + name};
    ASSERT_TRUE(file) << name;
    const auto sql = by_hand();
    std::string statement;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("--")) continue;
      statement += line + "\n";
      if (!line.ends_with(";")) continue;
      statement.resize(statement.size() - 2);
      sql->run(statement);
      statement.clear();
    }
  }
  void restore_version_1() const {
    restore(GetParam() == ServerKind::postgres ? "schema_1_postgres.sql" : "schema_1_mariadb.sql");
  }
  std::string version() const { return by_hand()->run("SELECT value FROM retry_meta WHERE name = 'schema_version'"); }
  void set_version(const std::string& version) const {
    by_hand()->run("UPDATE retry_meta SET value = '" + version + "' WHERE name = 'schema_version'");
  }
  MigrationPlan migrate(const MigrateRequest& request = {}) const {
    return migrate_store(url(), system_clock(), request);
  }
  std::string refusal() const {
    return test::refusal<StoreError>([&] { open_store(url(), system_clock()); });
  }

  const test::TestDatabase database{GetParam()};
};
ON_EACH_SERVER(Migrations);

TEST_P(Migrations, AnEmptyDatabaseGetsTheNewestVersionAlsoFromSeveralInstancesAtOnce) {
  const auto stores = test::together(4, [&](int) { return open_store(url(), system_clock()); });
  EXPECT_EQ(version(), std::to_string(kNewest));
  const MigrationPlan plan = migrate();
  EXPECT_EQ(plan.from, kNewest);
  EXPECT_EQ(plan.to, kNewest);
  EXPECT_THAT(plan.statements, IsEmpty());
}

TEST_P(Migrations, AnOlderVersionIsRefusedWithTheCommandThatHelps) {
  restore_version_1();
  EXPECT_THAT(refusal(), AllOf(HasSubstr("schema version 1"), HasSubstr("needs version " + std::to_string(kNewest)),
                               HasSubstr("easyretry migrate --store '"), HasSubstr(database.name())));
  EXPECT_EQ(version(), "") << "nothing was changed";
}

TEST_P(Migrations, ANewerVersionIsRefused) {
  open_store(url(), system_clock());
  const std::string newer = std::to_string(kNewest + 1);
  set_version(newer);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("schema version " + newer), HasSubstr("install that release")));
  EXPECT_THROW(migrate(), StoreError);
  EXPECT_THROW(migrate({.to = kNewest}), std::invalid_argument);
}

TEST_P(Migrations, ACorruptedVersionIsReported) {
  open_store(url(), system_clock());
  set_version("two");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("schema_version"), HasSubstr("corrupted"), HasSubstr("two")));
}

TEST_P(Migrations, ADryRunShowsTheStatementsAndChangesNothing) {
  restore_version_1();
  const MigrationPlan plan = migrate({.only_plan = true});
  EXPECT_EQ(plan.from, 1);
  EXPECT_EQ(plan.to, kNewest);
  ASSERT_THAT(plan.statements, SizeIs(11))
      << "this month's table and the next one's, versions 3 and 4, all tables, version 6, and all tables again";
  EXPECT_THAT(plan.statements[0], AllOf(HasSubstr("retry_task_history_202611"), HasSubstr("requeued_as")));
  EXPECT_THAT(plan.statements[2], HasSubstr("CREATE TABLE IF NOT EXISTS retry_retention"));
  EXPECT_THAT(plan.statements[3], HasSubstr("retry_result"));
  EXPECT_THAT(plan.statements[4], AllOf(HasSubstr("ALTER TABLE retry_task "), HasSubstr("attempt_log")));
  EXPECT_THAT(plan.statements[7], HasSubstr("retry_series"));
  EXPECT_THAT(plan.statements[8], AllOf(HasSubstr("ALTER TABLE retry_task "), HasSubstr("task_class")));
  EXPECT_EQ(version(), "");
  EXPECT_EQ(migrate({.only_plan = true}).statements, plan.statements);

  for (const std::string& statement : plan.statements) by_hand()->run(statement);
  EXPECT_THAT(migrate({.only_plan = true}).statements, IsEmpty()) << "they can be run manually";
  migrate();
  EXPECT_EQ(refusal(), "accepted");
}

TEST_P(Migrations, AVersionOnTheWayIsEnoughIfItIsAskedForAndNoneIsSkipped) {
  restore_version_1();
  EXPECT_EQ(migrate({.to = 1}).to, 1);
  EXPECT_THROW(migrate({.to = kNewest + 1}), std::invalid_argument);
  EXPECT_EQ(migrate({.to = 2}).to, 2);
  EXPECT_EQ(version(), "2");
  EXPECT_EQ(migrate().to, kNewest);
  EXPECT_EQ(refusal(), "accepted");
}

TEST_P(Migrations, SeveralAtOnceDoItOnce) {
  restore_version_1();
  const auto plans = test::together(4, [&](int) { return migrate(); });
  EXPECT_EQ(version(), std::to_string(kNewest));
  EXPECT_EQ(refusal(), "accepted");
}

// Instances of the previous release keep running meanwhile: they take calls in, and write the old columns of history.
TEST_P(Migrations, UnderLoadNothingIsLost) {
  restore_version_1();
  std::atomic<bool> migrated = false;
  std::atomic<int> taken_in = 0;
  std::jthread submits{[&] {
    const auto sql = by_hand();
    while (!migrated || taken_in < 200) {
      sql->run("INSERT INTO retry_inbox (method_name, params_json) VALUES ('pay', '[" +
               std::to_string(1000 + taken_in) + "]')");
      ++taken_in;
    }
  }};
  std::atomic<int> ended = 0;
  std::jthread ends{[&] {
    const auto sql = by_hand();
    const std::string columns =
        "namespace, task_key, method_name, version, stage, outcome, next_retry_time, attempt_count, callback_count, "
        "crash_count, delivery_count, generation, payload_version, max_attempts, created_at, max_retry_duration, "
        "params_json, finished_at";
    while (!migrated || ended < 200) {
      sql->run("INSERT INTO retry_task_history_202611 (id, " + columns + ") SELECT " + std::to_string(++ended) + ", " +
               columns + " FROM retry_task_history_202611 WHERE task_key = 'pay:25' AND id > 1000000");
    }
  }};
  ASSERT_TRUE(test::eventually([&] { return taken_in > 50 && ended > 50; }));
  migrate();
  migrated = true;
  submits.join();
  ends.join();

  Engine engine{url(), {.log = nullptr}};
  std::mutex mutex;
  std::multiset<int> paid;
  auto pay = engine.retryable("pay", [&](int i) {
    const std::lock_guard lock{mutex};
    paid.insert(i);
  });
  engine.start();
  const auto wanted = static_cast<std::size_t>(20 + taken_in);
  EXPECT_TRUE(test::eventually([&] {
    return engine.count({}) == 0 &&
           engine.count({.finished = true, .outcome = Outcome::succeeded}) == static_cast<int>(wanted);
  }));
  engine.stop();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(paid.count(i), 1U) << i;
  for (int i = 1000; i < 1000 + taken_in; ++i) EXPECT_EQ(paid.count(i), 1U) << i;
  EXPECT_EQ(paid.size(), wanted);
  EXPECT_EQ(engine.count({.finished = true, .outcome = Outcome::cancelled}), 10 + ended);
}

}  // namespace
}  // namespace easyretry::storage
