// Which listeners are woken by which announcements.

#include <atomic>
#include <thread>

#include <easyretry/easyretry.h>

#include "support/cutting_proxy.h"
#include "support/eventually.h"
#include "unit/redis/support.h"

namespace easyretry::storage {
namespace {

using namespace std::chrono_literals;
using test::eventually;

class RedisNotifier : public ::testing::Test {
 protected:
  std::string url() const { return database.url(); }
  std::unique_ptr<Store> open() { return open_store(url(), system_clock()); }
  std::unique_ptr<Store> open(int port) { return open_store(database.url_through(port), system_clock()); }
  std::unique_ptr<Subscription> listen(Store& to, const std::string& name_space, std::atomic<int>& heard) {
    auto listening = to.listen(name_space, [&heard] { ++heard; });
    EXPECT_TRUE(eventually([&] { return heard > 0; })) << "for what was announced before it listened";
    return listening;
  }

  const test::TestDatabase database{ServerKind::redis};
  test::CuttingProxy proxy{test::shared_server_port(ServerKind::redis)};
  std::atomic<int> ours{0};
  std::atomic<int> theirs{0};
};

TEST_F(RedisNotifier, WakesTheListenersOfTheNamespaceInOtherProcesses) {
  const auto listener = open();
  const auto for_us = listen(*listener, "ours", ours);
  const auto for_them = listen(*listener, "theirs", theirs);
  listener->announce("ours");
  open()->announce("theirs");
  ASSERT_TRUE(eventually([&] { return theirs == 2; }));
  EXPECT_EQ(ours, 1) << "it does not wake its own";
  open()->announce("ours");
  EXPECT_TRUE(eventually([&] { return ours == 2; }));
}

TEST_F(RedisNotifier, WakesNoListenerThatIsGone) {
  const auto store = open();
  auto listening = listen(*store, "ours", ours);
  const auto still = listen(*store, "theirs", theirs);
  listening.reset();
  const auto speaker = open();
  speaker->announce("ours");
  speaker->announce("theirs");
  ASSERT_TRUE(eventually([&] { return theirs == 2; }));
  EXPECT_EQ(ours, 1);
}

TEST_F(RedisNotifier, WakesForWhatItMayHaveMissedWhenItsConnectionWasLost) {
  const auto store = open(proxy.port());
  const auto listening = listen(*store, "ours", ours);
  proxy.cut_all();
  EXPECT_TRUE(eventually([&] { return ours == 2; }));
  open()->announce("ours");
  EXPECT_TRUE(eventually([&] { return ours == 3; }));
}

TEST_F(RedisNotifier, SendsAnnouncementsLaterThatItCannotSendNow) {
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

TEST_F(RedisNotifier, DoesNotWaitLongForASilentServerWhenItIsDestroyed) {
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

// Its next look is half a window away.
TEST_F(RedisNotifier, StartsTasksOfAnotherEngineLongBeforeItWouldLookForThem) {
  const EngineOptions slow{.window = 60s, .poll = 60s, .log = nullptr};
  Engine worker{url(), slow};
  std::atomic<int> ran{0};
  worker.retryable("work", [&](int) { ++ran; });
  worker.start();
  Engine submitter{url(), slow};  // never started
  const auto work = submitter.retryable("work", [](int) {});
  for (int i = 1; i <= 3; ++i) {
    work.submit(i);
    ASSERT_TRUE(eventually([&] { return ran == i; })) << i;
  }
}

}  // namespace
}  // namespace easyretry::storage
