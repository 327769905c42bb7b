#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

#include "cluster/open_membership.h"
#include "storage/memory/memory_store.h"

namespace easyretry::cluster {
namespace {

using ::testing::HasSubstr;
using ::testing::IsNull;

class OpenMembership : public ::testing::Test {
 protected:
  std::unique_ptr<Membership> open(std::string_view text) {
    return open_membership(parse_membership(text), store, "shop", "me", std::chrono::seconds{30});
  }
  easyretry::testing::ManualClock clock;
  storage::MemoryStore store{{}, clock};
};

TEST_F(OpenMembership, AloneIsNoMembership) {
  EXPECT_THAT(open("alone"), IsNull());
}

TEST_F(OpenMembership, InAStoreThatNobodySharesThereIsNobodyToMeet) {
  EXPECT_THAT(open("store"), IsNull());
}

TEST_F(OpenMembership, AFixedPlaceStaysInItsPlaceAmongMany) {
  const auto membership = open("static:10/12");
  const auto list = membership->refresh({}).value();
  ASSERT_EQ(list.size(), 12U);
  EXPECT_EQ(list.at(10).node, membership->traits().self);
  EXPECT_TRUE(
      std::is_sorted(list.begin(), list.end(), [](const Member& a, const Member& b) { return a.node < b.node; }));
}

TEST_F(OpenMembership, WhatIsNoMembershipIsRefusedWithWhatIsOne) {
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
