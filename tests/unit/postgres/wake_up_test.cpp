// Tasks that one engine stores and another runs, which scans so rarely that only a notification can wake it in time.

#include <atomic>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <signal.h>

#include <easyretry/easyretry.h>

#include "storage/postgres/notifier.h"
#include "support/cutting_proxy.h"
#include "support/database_server.h"
#include "support/eventually.h"
#include "support/pg_client.h"
#include "support/plain_sql.h"
#include "support/test_database.h"

namespace easyretry {
namespace {

using namespace std::chrono_literals;
using test::DatabaseServer;
using test::eventually;
using test::PgClient;
using test::ServerKind;
using test::TestDatabase;

// Scans every five minutes, and never looks for overdue tasks.
EngineOptions drowsy() {
  return {.window = 10min, .grace = 24h, .log = nullptr};
}

// Runs tasks that others store.
class Runner {
 public:
  explicit Runner(const std::string& url, EngineOptions options = drowsy()) : engine_(url, options) {
    engine_.retryable("count", [this](int) { ++runs_; });
    engine_.start();
  }
  bool comes_to(int runs) const {
    return eventually([&] { return runs_ == runs; });
  }
  int runs() const { return runs_; }

 private:
  std::atomic<int> runs_{0};
  Engine engine_;
};

// Stores tasks, and runs none.
class Submitter {
 public:
  explicit Submitter(const std::string& url)
      : engine_(url, drowsy()), count_(engine_.retryable("count", [](int) { FAIL() << "it was never started"; })) {}
  auto& count() { return count_; }
  bool retry_now(TaskId id) { return engine_.retry_now(id); }

 private:
  Engine engine_;
  Retryable<void, std::tuple<int>> count_;
};

constexpr const char* kRunner = "application_name=runner";

// The runner has asked for nothing for a while except signs of life and pauses: no scan is in flight that could find by
// chance the task that a notification should report.
bool falls_quiet(int port, const std::string& database) {
  const auto sql = test::connect_plainly(ServerKind::postgres, port, database);
  return eventually([&] {
    return sql->run(
               "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = "
               "'runner' AND query NOT IN ('SELECT 1', 'LISTEN easyretry') AND query NOT LIKE '%retry_pause%' AND "
               "state_change > "
               "clock_timestamp() - interval '2 seconds'") == "0";
  });
}

class PostgresWakeUp : public ::testing::Test {
 protected:
  bool falls_quiet() const {
    return easyretry::falls_quiet(test::shared_server_port(ServerKind::postgres), database.name());
  }

  const TestDatabase database{ServerKind::postgres};
  const std::string url = database.url() + "?sslmode=disable";
};

TEST_F(PostgresWakeUp, ATaskOfAnotherProcessStartsAtOnceHoweverRarelyTheStoreIsScanned) {
  const Runner runner{url + "&" + kRunner};
  Submitter submitter{url};
  submitter.count().submit(1);
  ASSERT_TRUE(runner.comes_to(1));
  ASSERT_TRUE(falls_quiet());
  submitter.count().submit(2);
  EXPECT_TRUE(runner.comes_to(2));
}

// Whether the runner has read it ahead or not. It has if the task is due within its window.
TEST_F(PostgresWakeUp, ATaskThatAnotherProcessRetriesNowStartsAtOnce) {
  const Runner runner{url + "&" + kRunner};
  Submitter submitter{url};
  const TaskId far = submitter.count().submit_after(1h, 1);
  const TaskId near = submitter.count().submit_after(5min, 2);
  ASSERT_TRUE(falls_quiet());
  EXPECT_TRUE(submitter.retry_now(far));
  EXPECT_TRUE(runner.comes_to(1));
  ASSERT_TRUE(falls_quiet());
  EXPECT_TRUE(submitter.retry_now(near));
  EXPECT_TRUE(runner.comes_to(2));
}

TEST_F(PostgresWakeUp, ATaskInAnApplicationsTransactionStartsWithItsCommit) {
  const Runner runner{url + "&" + kRunner};
  Submitter submitter{url};
  submitter.count().submit(1);
  ASSERT_TRUE(runner.comes_to(1));
  ASSERT_TRUE(falls_quiet());
  PgClient client{database.url()};
  client.run("BEGIN");
  submitter.count().submit(postgres_tx(client.get()), 2);
  client.run("COMMIT");
  EXPECT_TRUE(runner.comes_to(2));
}

TEST_F(PostgresWakeUp, ASubmitterThatIsGoneAtOnceHasStillNotified) {
  const Runner runner{url};
  for (int task = 1; task <= 3; ++task) {
    Submitter{url}.count().submit(task);
    ASSERT_TRUE(runner.comes_to(task));
  }
}

TEST_F(PostgresWakeUp, TasksThatAStoppingInstanceGivesBackAreTakenAtOnce) {
  std::atomic<bool> started{false};
  std::optional<Engine> stopping{std::in_place, url, EngineOptions{.workers = 1, .drain = 0ms, .log = nullptr}};
  auto count = stopping->retryable("count", [&](int) {
    started = true;
    while (!current_task()->stop.stop_requested()) std::this_thread::yield();
    throw std::runtime_error("stopped");
  });
  stopping->start();
  count.submit(1);
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  const Runner runner{url};
  count.submit(2);
  stopping.reset();
  EXPECT_TRUE(runner.comes_to(2));
}

TEST_F(PostgresWakeUp, AnEngineThatRunsItsOwnTasksSendsNoNotification) {
  PgClient bystander{database.url()};
  bystander.run("LISTEN easyretry");
  Engine engine{url, drowsy()};
  std::atomic<int> runs{0};
  auto count = engine.retryable("count", [&](int) { ++runs; });
  engine.start();
  for (int i = 0; i < 20; ++i) count.submit(i);
  ASSERT_TRUE(eventually([&] { return runs == 20; }));
  EXPECT_TRUE(bystander.notifications().empty());
  engine.stop();
  EXPECT_TRUE(eventually([&] { return !bystander.notifications().empty(); }))
      << "its tasks are for other instances now";
}

TEST_F(PostgresWakeUp, ManySubmitsAreAnnouncedByFewNotifications) {
  constexpr std::size_t kSubmits = 300;
  PgClient bystander{database.url()};
  bystander.run("LISTEN easyretry");
  const auto began = std::chrono::steady_clock::now();
  {
    Submitter submitter{url};
    for (std::size_t i = 0; i < kSubmits; ++i) submitter.count().submit(static_cast<int>(i));
  }
  // One at the beginning of the first interval, and the end.
  const auto most = (std::chrono::steady_clock::now() - began) / storage::server::Notifier::kInterval + 2;
  bystander.run("NOTIFY easyretry, 'the end'");
  std::vector<std::string> heard;
  ASSERT_TRUE(eventually([&] {
    for (const std::string& payload : bystander.notifications()) heard.push_back(payload);
    return !heard.empty() && heard.back() == "the end";
  }));
  EXPECT_EQ(heard.front(), "default");
  EXPECT_LE(static_cast<std::int64_t>(heard.size()), most);
}

TEST_F(PostgresWakeUp, NotificationsLostWithTheConnectionAreMadeUpForWhenItIsBack) {
  test::CuttingProxy proxy{test::shared_server_port(ServerKind::postgres)};
  const Runner runner{database.url_through(proxy.port()) + "?sslmode=disable&" + kRunner};
  Submitter submitter{url};
  submitter.count().submit(1);
  ASSERT_TRUE(runner.comes_to(1));
  ASSERT_TRUE(falls_quiet());
  PgClient bystander{database.url()};
  bystander.run("LISTEN easyretry");
  proxy.refuse_new();
  proxy.cut_all();
  submitter.count().submit(2);
  ASSERT_TRUE(eventually([&] { return !bystander.notifications().empty(); })) << "the notification was sent";
  proxy.accept_new();
  ASSERT_TRUE(runner.comes_to(2));
  submitter.count().submit(3);
  EXPECT_TRUE(runner.comes_to(3)) << "and it listens again";
}

// A server process that is stopped is alive to the kernel, and silent.
TEST_F(PostgresWakeUp, AConnectionThatFellSilentIsNoticedAndReplaced) {
  DatabaseServer server{ServerKind::postgres};
  const Runner runner{server.url() + "?" + kRunner};
  Submitter submitter{server.url()};
  submitter.count().submit(1);
  ASSERT_TRUE(runner.comes_to(1));
  ASSERT_TRUE(easyretry::falls_quiet(server.port(), "easyretry"));
  const auto sql = test::connect_plainly(ServerKind::postgres, server.port());
  const int listener = std::stoi(
      sql->run("SELECT pid FROM pg_stat_activity WHERE application_name = 'runner' AND query IN ('LISTEN easyretry', "
               "'SELECT 1')"));
  ASSERT_EQ(kill(listener, SIGSTOP), 0);
  submitter.count().submit(2);
  EXPECT_TRUE(runner.comes_to(2));
  kill(listener, SIGCONT);
}

TEST_F(PostgresWakeUp, AServerThatWasKilledAndCameBackWakesAgain) {
  DatabaseServer server{ServerKind::postgres};
  const Runner runner{server.url()};
  std::optional<Submitter> submitter{server.url()};
  submitter->count().submit(1);
  ASSERT_TRUE(runner.comes_to(1));
  server.kill();
  submitter.reset();
  server.start();
  submitter.emplace(server.url());
  submitter->count().submit(2);
  EXPECT_TRUE(runner.comes_to(2));
}

}  // namespace
}  // namespace easyretry
