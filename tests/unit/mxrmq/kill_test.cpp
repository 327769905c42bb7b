// Worker processes that are killed between claim and completion: nothing is lost.

#include <latch>
#include <mutex>
#include <set>

#include <easyretry/mxrmq.h>

#include "fault/child.h"
#include "support/cutting_proxy.h"
#include "support/eventually.h"
#include "unit/mxrmq/support.h"

namespace easyretry::mxrmq {
namespace {

using Killed = QueueTest;

TEST_F(Killed, AWorkerLosesNoneOfItsMessages) {
  constexpr int kMessages = 20;
  Queue queue{url()};
  for (int i = 0; i < kMessages; ++i) {
    queue.produce("orders", "{}", {.id = "m" + std::to_string(i), .retry_delays = {std::chrono::seconds{0}}});
  }
  for (int life = 0; life < 2; ++life) {
    fault::Child worker{MXRMQ_WORKER, {url(), "hang"}};
    ASSERT_EQ(worker.read_line().substr(0, 7), "holding");
    worker.kill();
  }
  fault::Child worker{MXRMQ_WORKER, {url(), "work"}};
  std::set<std::string> ran;
  while (ran.size() < kMessages) {
    const std::string line = worker.read_line();
    ASSERT_FALSE(line.empty()) << ran.size() << " have been run";
    if (line.starts_with("ran ")) ran.insert(line.substr(4));
  }
  EXPECT_TRUE(test::eventually([&] { return number({"EXISTS", "shop:payloads", "shop:expires"}) == 0; }));
  worker.kill();
}

// The server, with everything that it has confirmed on disk.
TEST(KilledServer, LosesNothingAndTheWorkerContinues) {
  constexpr int kMessages = 300;
  constexpr std::size_t kBefore = 20;
  test::DatabaseServer server{test::ServerKind::redis};
  const std::string url = "mxrmq" + server.url().substr(std::string{"redis"}.size()) + "?prefix=shop";
  Queue queue{url};
  for (int i = 0; i < kMessages; ++i) {
    queue.produce("orders", "{}", {.id = std::to_string(i), .retry_delays = {std::chrono::seconds{0}}});
  }
  std::mutex mutex;
  std::set<std::string> ran;  // guarded by mutex
  const auto count = [&] {
    const std::lock_guard lock{mutex};
    return ran.size();
  };
  WorkerOptions options;
  options.lease = std::chrono::seconds{1};
  options.poll = std::chrono::milliseconds{20};
  options.reap = std::chrono::milliseconds{50};
  options.log = [](LogLevel, std::string_view) {};
  Worker worker{url, options};
  std::latch killed{1};
  worker.on("orders", [&](const Delivery& message) {
    if (count() > kBefore) killed.wait();
    const std::lock_guard lock{mutex};
    ran.insert(message.id);
  });
  worker.start();
  ASSERT_TRUE(test::eventually([&] { return count() > kBefore; }));
  server.kill();
  killed.count_down();
  server.start();
  EXPECT_TRUE(test::eventually([&] { return count() == kMessages && queue.counts("orders").leased == 0; }));
}

class AWireThatLosesReplies : public QueueTest {
 protected:
  std::string through_proxy() const {
    return "mxrmq" + database.url_through(proxy.port()).substr(std::string{"redis"}.size()) + "?prefix=shop";
  }

  test::CuttingProxy proxy{test::shared_server_port(test::ServerKind::redis)};
};

TEST_F(AWireThatLosesReplies, AMessageIsStoredOnce) {
  Queue queue{through_proxy()};
  queue.produce("orders", "{}", {.id = "first"});
  proxy.lose_reply_to("second");
  queue.produce("orders", "{}", {.id = "second"});
  EXPECT_EQ(proxy.lost_replies(), 1);
  EXPECT_THAT(list("orders:pending"), ElementsAre("second", "first"));
}

TEST_F(AWireThatLosesReplies, OpeningIsNeverInDoubt) {
  proxy.lose_reply_to("INFO");
  try {
    Queue{through_proxy()};
    FAIL();
  } catch (const StoreError& error) {
    EXPECT_EQ(error.code(), Errc::unavailable);
  }
}

TEST_F(AWireThatLosesReplies, EachMessageIsRunAndNothingIsLeft) {
  constexpr int kMessages = 200;
  Queue queue{url()};
  for (int i = 0; i < kMessages; ++i) {
    queue.produce("orders", "{}", {.id = std::to_string(i), .retry_delays = {std::chrono::seconds{0}}});
  }
  WorkerOptions options;
  options.lease = std::chrono::seconds{1};
  options.max_lost = 1'000;
  options.poll = std::chrono::milliseconds{20};
  options.reap = std::chrono::milliseconds{50};
  options.log = [](LogLevel, std::string_view) {};
  std::mutex mutex;
  std::set<std::string> ran;  // guarded by mutex
  Worker worker{through_proxy(), options};
  worker.on("orders", [&](const Delivery& message) {
    const std::size_t before = [&] {
      const std::lock_guard lock{mutex};
      ran.insert(message.id);
      return ran.size();
    }();
    // Replies are lost during the whole run, not only at its beginning.
    EXPECT_TRUE(test::eventually([&] { return proxy.lost_replies() >= before / 40; }));
  });
  worker.start();
  proxy.lose_replies(0.1);
  EXPECT_TRUE(test::eventually([&] { return run({"KEYS", "shop:*"}) == Texts{""}; }, std::chrono::seconds{120}));
  EXPECT_GT(proxy.lost_replies(), 0);
  EXPECT_THAT(ran, SizeIs(kMessages));
}

}  // namespace
}  // namespace easyretry::mxrmq
