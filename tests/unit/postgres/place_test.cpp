// Which retries keep their place in the due index.

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <easyretry/testing.h>

#include "storage/sql/server_store.h"
#include "support/plain_sql.h"
#include "support/server_session.h"
#include "support/task_builder.h"
#include "support/test_database.h"

namespace easyretry::storage::postgres {
namespace {

using namespace std::chrono_literals;
using test::a_task;
using test::ServerKind;

class PlaceInTheDueIndex : public ::testing::Test {
 protected:
  // How long before its due time scans meet a task that was due `overdue` ago and failed now.
  Millis early(Millis overdue, Millis delay) {
    const TaskRecord task = claimed(a_task().due_in(-overdue));
    Settlement retry;
    retry.ticket = {task.info.id, task.info.version};
    retry.kind = Settlement::Kind::retry;
    retry.delay = delay;
    EXPECT_TRUE(store->settle({&retry, 1}).value().applied.at(0));
    return Millis{std::stoll(column(task, "next_retry_time")) - std::stoll(column(task, "scan_time"))};
  }
  TaskRecord claimed(const task::NewTask& task) {
    const Inserted stored = store->insert({&task, 1}).value().tasks.at(0);
    const Ticket ticket{stored.id, stored.version};
    return store->claim({{&ticket, 1}, "worker", 30s}).value().won.at(0);
  }
  std::string column(const TaskRecord& task, const std::string& name) {
    return plain->run("SELECT " + name + " FROM retry_task WHERE id = " + to_string(task.info.id));
  }

  const test::TestDatabase database{ServerKind::postgres};
  testing::ManualClock clock;
  const std::unique_ptr<Store> store = sql::open_server_store(
      {.kind = "postgres",
       .url = database.name(),
       .connect = [this] { return test::connect_session(ServerKind::postgres, database.name()); },
       .clock = &clock});
  const std::unique_ptr<test::PlainSql> plain =
      test::connect_plainly(ServerKind::postgres, test::shared_server_port(ServerKind::postgres), database.name());
};

TEST_F(PlaceInTheDueIndex, ARetryWithinFiveSecondsKeepsIt) {
  EXPECT_EQ(early(0s, 0ms), 0ms);
  EXPECT_EQ(early(0s, 1s), 1s);
  EXPECT_EQ(early(0s, 5s), 5s);
  EXPECT_EQ(early(20s, 1s), 21s);
}

TEST_F(PlaceInTheDueIndex, ALaterRetryMovesToItsDueTime) {
  EXPECT_EQ(early(0s, 5001ms), 0ms);
  EXPECT_EQ(early(10s, 1h), 0ms);
}

TEST_F(PlaceInTheDueIndex, NoTaskStaysBeforeTheOthersForMoreThanAMinute) {
  EXPECT_EQ(early(60s, 0ms), 60s);
  EXPECT_EQ(early(60s, 1ms), 0ms);
  EXPECT_EQ(early(24h, 0ms), 0ms);
}

TEST_F(PlaceInTheDueIndex, AnUpdateThatKeepsItChangesNoIndex) {
  early(0s, 0ms);
  EXPECT_EQ(plain->run("SELECT pg_stat_force_next_flush()"), "");
  EXPECT_EQ(plain->run("SELECT n_tup_upd = n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'retry_task'"), "t");
}

}  // namespace
}  // namespace easyretry::storage::postgres
