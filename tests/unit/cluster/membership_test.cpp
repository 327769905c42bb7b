#include "cluster/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <easyretry/testing.h>

#include "cluster/open_membership.h"
#include "storage/memory/memory_store.h"

namespace easyretry::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNull;

class OpenMembership : public ::testing::Test {
 protected:
  std::unique_ptr<Membership> open(std::string_view text) {
    return open_membership(parse_membership(text), store, {"shop", "me", std::chrono::seconds{30}});
  }
  easyretry::testing::ManualClock clock;
  storage::MemoryStore store{{}, clock};
};

TEST_F(OpenMembership, AloneIsNoMembership) {
  EXPECT_THAT(open("alone"), IsNull());
}

TEST_F(OpenMembership, AStoreThatCannotBeSharedHasNoMembership) {
  EXPECT_THAT(open("store"), IsNull());
}

TEST_F(OpenMembership, ARegistryNeedsASharedStore) {
  try {
    open("nacos://registry/orders");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("instances cannot share this store; write alone"));
  }
}

TEST_F(OpenMembership, AnInvalidRegistryUrlIsRefusedWithTheReason) {
  try {
    parse_membership("nacos://app:geheim@registry");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("membership is \"nacos://app@registry\": no name after the host"));
  }
}

TEST_F(OpenMembership, AFixedPlaceStaysInItsPlaceAmongMany) {
  const auto membership = open("static:10/12");
  const auto list = membership->refresh({}).value().members;
  ASSERT_EQ(list.size(), 12U);
  EXPECT_EQ(list.at(10).node, membership->traits().self);
  EXPECT_TRUE(
      std::is_sorted(list.begin(), list.end(), [](const Member& a, const Member& b) { return a.node < b.node; }));
}

class StoreMembershipTest : public OpenMembership {
 protected:
  std::vector<std::string> seen_by(const std::string& node) {
    std::vector<std::string> nodes;
    const auto list = StoreMembership{store, "shop", node, std::chrono::seconds{30}}.refresh({}).value().members;
    for (const Member& member : list) nodes.push_back(member.node);
    return nodes;
  }
};

TEST_F(StoreMembershipTest, AHeartbeatIsSeenByTheOthersUntilTheInstanceLeaves) {
  seen_by("a:1:1");
  EXPECT_THAT(seen_by("b:1:1"), ElementsAre("a:1:1", "b:1:1"));
  StoreMembership{store, "shop", "a:1:1", std::chrono::seconds{30}}.leave();
  EXPECT_THAT(seen_by("b:1:1"), ElementsAre("b:1:1"));
}

TEST_F(StoreMembershipTest, AnInstanceIsDeadAfterAThirdOfTheLeaseAtMostTenSeconds) {
  const auto dead_after = [&](Millis lease) {
    return StoreMembership{store, "shop", "a", lease}.traits().death_timeout;
  };
  EXPECT_EQ(dead_after(std::chrono::hours{1}), std::chrono::seconds{10});
  EXPECT_EQ(dead_after(std::chrono::seconds{6}), std::chrono::seconds{2});
  EXPECT_EQ(dead_after(Millis{100}), Millis{500});
}

// A killed and restarted instance need not wait for its predecessor.
TEST_F(StoreMembershipTest, AnEndedProcessOfThisHostIsNoMember) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  seen_by("host:" + std::to_string(child) + ":1");
  const std::string self = "host:" + std::to_string(getpid()) + ":2";
  EXPECT_THAT(seen_by(self), ElementsAre(self));
}

TEST_F(OpenMembership, AnInvalidMembershipIsRefusedWithTheValidOnes) {
  for (const char* text : {"", "Store", "static", "static:", "static:8/8", "static:-1/8", "static:1/0", "static:1/8x",
                           "static:1/5000", "nacos"}) {
    try {
      parse_membership(text);
      FAIL() << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), HasSubstr("static:2/8"));
    }
  }
}

}  // namespace
}  // namespace easyretry::cluster
