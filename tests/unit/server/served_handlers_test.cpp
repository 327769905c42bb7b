#include "server/served_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/open.h"
#include "support/eventually.h"
#include "support/task_builder.h"

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct ServingTest : ::testing::Test {
  void ask_for(const std::string& handler) {
    name_space.lease_queue().wait({{handler}, 1, system_clock().steady() + 60s, [](const auto&) {}});
  }

  Namespace name_space{storage::open_store("memory:", system_clock()), Config{}};
};

TEST_F(ServingTest, AHandlerThatIsMerelyKnownIsNotServed) {
  name_space.handler("mail");
  EXPECT_FALSE(ServedHandlers{name_space}.is_served("mail"));
  EXPECT_FALSE(ServedHandlers{name_space}.is_served("never.named"));
  EXPECT_THAT(ServedHandlers{name_space}.instances("mail"), IsEmpty());
  EXPECT_THAT(ServedHandlers{name_space}.names(), IsEmpty());
}

TEST_F(ServingTest, AHandlerIsServedHereIfAWorkerWaitsForIt) {
  for (const char* name : {"mail", "pay"}) name_space.handler(name);
  ask_for("mail");
  EXPECT_THAT(ServedHandlers{name_space}.instances("mail"), ElementsAre(name_space.core().cluster().self));
  EXPECT_FALSE(ServedHandlers{name_space}.is_served("pay"));
  EXPECT_THAT(ServedHandlers{name_space}.names(), ElementsAre("mail"));
}

TEST_F(ServingTest, AHandlerIsServedWhileAWorkerHoldsALease) {
  const Instant now = system_clock().steady();
  const task::Ticket leased{TaskId{1}, 2};
  name_space.handler("mail");
  name_space.leases().begin(leased, "mail", now, now + 60s);
  EXPECT_TRUE(ServedHandlers{name_space}.is_served("mail"));
  name_space.leases().end(leased);
  EXPECT_FALSE(ServedHandlers{name_space}.is_served("mail")) << "it is settled, and no worker asks";
  name_space.handler("pay");
  name_space.leases().begin(leased, "pay", now, now);
  EXPECT_FALSE(ServedHandlers{name_space}.is_served("pay"));
}

// After a restart, for example. The engine sweeps the history of the handlers that it knows.
TEST(StoredHandlers, AreKnownIfTheDefaultsSayHowLongTheirEndedTasksAreKept) {
  const std::shared_ptr<storage::Store> store = storage::open_store("memory:", system_clock());
  const task::NewTask task = test::a_task().name_space(EngineOptions{}.name_space).handler("mail");
  ASSERT_TRUE(store->insert({&task, 1}));
  Config config;
  config.defaults.keep_args = 1s;
  Namespace name_space{store, config};
  EXPECT_FALSE(name_space.core().handlers().snapshot()->find("mail"));
  name_space.start();
  EXPECT_TRUE(test::eventually([&] { return name_space.core().handlers().snapshot()->find("mail") != nullptr; }));
}

}  // namespace
}  // namespace easyretry::server
