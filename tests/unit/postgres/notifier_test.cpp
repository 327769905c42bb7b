// Which listeners are woken by which announcements.

#include "storage/postgres/notifier.h"

#include <atomic>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "storage/open.h"
#include "support/cutting_proxy.h"
#include "support/eventually.h"
#include "support/pg_client.h"
#include "support/task_builder.h"
#include "support/test_database.h"

namespace easyretry::storage::postgres {
namespace {

using namespace std::chrono_literals;
using test::a_task;
using test::eventually;
using test::ServerKind;
using test::TestDatabase;

class PostgresNotifier : public ::testing::Test {
 protected:
  std::unique_ptr<Store> open(int port) {
    return open_store(database.url_through(port) + "?sslmode=disable", system_clock());
  }
  std::unique_ptr<Store> open() { return open(test::shared_server_port(ServerKind::postgres)); }
  std::unique_ptr<Subscription> listen(Store& to, const std::string& name_space, std::atomic<int>& heard) {
    auto listening = to.listen(name_space, [&heard] { ++heard; });
    EXPECT_TRUE(eventually([&] { return heard > 0; })) << "for what was announced before it listened";
    return listening;
  }

  const TestDatabase database{ServerKind::postgres};
  std::atomic<int> ours{0};
  std::atomic<int> theirs{0};
};

TEST_F(PostgresNotifier, WakesTheListenersOfTheNamespace) {
  const auto listener = open();
  const auto for_us = listen(*listener, "ours", ours);
  const auto for_them = listener->listen("theirs", [this] { ++theirs; });
  const auto speaker = open();
  speaker->announce("theirs");
  ASSERT_TRUE(eventually([&] { return theirs > 0; }));
  EXPECT_EQ(ours, 1);
  speaker->announce("ours");
  EXPECT_TRUE(eventually([&] { return ours == 2; }));
}

TEST_F(PostgresNotifier, DoesNotWakeItsOwnListeners) {
  const auto store = open();
  const auto listening = listen(*store, "ours", ours);
  const auto other = open();
  const auto also = listen(*other, "ours", theirs);
  store->announce("ours");
  ASSERT_TRUE(eventually([&] { return theirs == 2; }));
  EXPECT_EQ(ours, 1);
}

TEST_F(PostgresNotifier, WakesNoListenerThatIsGone) {
  const auto store = open();
  auto listening = listen(*store, "ours", ours);
  const auto still = listen(*store, "theirs", theirs);
  listening.reset();
  const auto speaker = open();
  speaker->announce("ours");
  speaker->announce("theirs");
  ASSERT_TRUE(eventually([&] { return theirs >= 2; }));
  EXPECT_EQ(ours, 1);
}

TEST_F(PostgresNotifier, WakesWithTheCommitOfATransactionIfATaskIsDueSoon) {
  const auto store = open();
  const auto listening = listen(*store, test::kNamespace, ours);
  test::PgClient client{database.url()};
  const auto within = [&](const NewTask& task) {
    client.run("BEGIN");
    ASSERT_TRUE(store->insert_within(postgres_tx(client.get()), {&task, 1}));
    client.run("COMMIT");
  };
  within(a_task().key("far").due_in(24h));
  within(a_task().key("near").due_in(1s));
  EXPECT_TRUE(eventually([&] { return ours == 2; }));
}

TEST_F(PostgresNotifier, SendsAnnouncementsLaterThatItCannotSendNow) {
  test::CuttingProxy proxy{test::shared_server_port(ServerKind::postgres)};
  const auto speaker = open(proxy.port());
  const auto store = open();
  const auto listening = listen(*store, "ours", ours);
  speaker->announce("ours");
  ASSERT_TRUE(eventually([&] { return ours == 2; }));
  proxy.refuse_new();
  proxy.cut_all();
  speaker->announce("ours");
  proxy.accept_new();
  EXPECT_TRUE(eventually([&] { return ours == 3; }));
}

// If one answer is not read, everything after it waits for as long as a server may be silent. With this many
// statements, some are answered before send() returns.
TEST_F(PostgresNotifier, ReadsEveryAnswerHoweverSoonItComes) {
  NotifyConnection connection{database.url() + "?sslmode=disable"};
  const auto answered = [&] {
    connection.advance();
    return connection.idle();
  };
  ASSERT_TRUE(eventually(answered));
  for (int i = 0; i < 20000; ++i) {
    connection.send("SELECT 1");
    ASSERT_FALSE(connection.idle());
    while (!answered()) ASSERT_FALSE(connection.lost());
  }
}

TEST_F(PostgresNotifier, DoesNotWaitLongForASilentServerWhenItIsDestroyed) {
  test::CuttingProxy proxy{test::shared_server_port(ServerKind::postgres)};
  auto store = open(proxy.port());
  proxy.freeze();
  store->announce("ours");
  std::atomic<bool> gone{false};
  std::thread destroyer{[&] {
    store.reset();
    gone = true;
  }};
  EXPECT_TRUE(eventually([&] { return gone.load(); }));
  destroyer.join();
}

}  // namespace
}  // namespace easyretry::storage::postgres
