#include "server/served_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/open.h"

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
  name_space.handler("mail");
  name_space.lease_queue().leased("mail", 60s);
  EXPECT_TRUE(ServedHandlers{name_space}.is_served("mail"));
  name_space.handler("pay");
  name_space.lease_queue().leased("pay", 0s);
  EXPECT_FALSE(ServedHandlers{name_space}.is_served("pay"));
}

}  // namespace
}  // namespace easyretry::server
