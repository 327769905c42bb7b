#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "webhook/resolver.h"

namespace easyretry::webhook {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const Instant kNow = Instant{} + 1h;
const std::vector<IpAddress> kHere{parse_address("127.0.0.1").value()};

TEST(NameCacheTest, OnlyTheFirstWaitingCallLooksUpANameForAll) {
  NameCache names;
  EXPECT_TRUE(names.wait(1, "a"));
  EXPECT_FALSE(names.wait(2, "a"));
  EXPECT_TRUE(names.wait(3, "b"));
  EXPECT_THAT(names.learn("a", kHere, kNow), ElementsAre(1, 2));
  EXPECT_THAT(names.learn("a", kHere, kNow), IsEmpty());
  EXPECT_THAT(names.learn("b", {}, kNow), ElementsAre(3));
}

TEST(NameCacheTest, KnowsANameForHalfAMinute) {
  NameCache names;
  names.learn("a", kHere, kNow);
  EXPECT_EQ(names.known("a", kNow + 29s), kHere);
  EXPECT_EQ(names.known("a", kNow + 30s), std::nullopt);
  EXPECT_EQ(names.known("b", kNow), std::nullopt);
}

TEST(NameCacheTest, LooksUpAgainANameThatWasNotFound) {
  NameCache names;
  names.wait(1, "a");
  names.learn("a", {}, kNow);
  EXPECT_EQ(names.known("a", kNow), std::nullopt);
  EXPECT_TRUE(names.wait(2, "a"));
}

TEST(NameCacheTest, ForgetsAName) {
  NameCache names;
  names.learn("a", kHere, kNow);
  names.forget("a");
  EXPECT_EQ(names.known("a", kNow), std::nullopt);
}

}  // namespace
}  // namespace easyretry::webhook
