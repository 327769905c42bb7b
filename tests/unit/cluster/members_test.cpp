// When a list of members takes effect.

#include "cluster/members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::cluster {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class MembersTest : public testing::Test {
 protected:
  static std::vector<Member> list(const std::vector<std::string>& nodes) {
    std::vector<Member> members;
    for (const std::string& node : nodes) members.push_back({.node = node});
    return members;
  }
  // The source reports this list now and keeps reporting it.
  bool hear(const std::vector<std::string>& nodes) {
    members.heard(list(nodes), now);
    return members.settle(now);
  }
  bool after(Instant::duration time) {
    now += time;
    return members.settle(now);
  }
  std::vector<std::string> counting() const {
    std::vector<std::string> nodes;
    for (const Member& member : members.list()) nodes.push_back(member.node);
    return nodes;
  }

  Instant now{1h};
  Members members{"b"};
};

TEST_F(MembersTest, TheFirstListCountsAtOnceAndInOrder) {
  EXPECT_TRUE(hear({"c", "b", "a", "b"}));
  EXPECT_THAT(counting(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(members.place(), 1U);
  EXPECT_TRUE(members.trusted());
}

TEST_F(MembersTest, WithoutAListThereIsNoPlace) {
  EXPECT_FALSE(after(1h));
  EXPECT_EQ(members.place(), std::nullopt);
  EXPECT_FALSE(members.trusted());
}

TEST_F(MembersTest, AJoinCountsAfterASecondWithoutAnother) {
  hear({"a", "b"});
  EXPECT_FALSE(hear({"a", "b", "c"}));
  EXPECT_FALSE(members.trusted());
  EXPECT_EQ(members.next(), now + 1s);
  after(900ms);
  EXPECT_FALSE(hear({"a", "b", "c", "d"}));
  EXPECT_FALSE(after(900ms));
  EXPECT_TRUE(after(100ms));
  EXPECT_TRUE(members.trusted());
  EXPECT_THAT(counting(), ElementsAre("a", "b", "c", "d"));
}

TEST_F(MembersTest, ALeaveCountsAfterTwoSeconds) {
  hear({"a", "b", "c"});
  EXPECT_FALSE(hear({"b", "c"}));
  EXPECT_FALSE(after(1999ms));
  EXPECT_TRUE(after(1ms));
  EXPECT_THAT(counting(), ElementsAre("b", "c"));
}

TEST_F(MembersTest, AMemberThatReturnsInTimeNeverLeft) {
  hear({"a", "b", "c"});
  hear({"b", "c"});
  after(1s);
  EXPECT_FALSE(hear({"a", "b", "c"}));
  EXPECT_FALSE(after(1h));
  EXPECT_TRUE(members.trusted());
}

TEST_F(MembersTest, AListThatLostMoreThanHalfCountsOnlyWhenItStaysSo) {
  hear({"a", "b", "c", "d", "e"});
  EXPECT_FALSE(hear({"a", "b"}));
  EXPECT_FALSE(members.trusted());
  EXPECT_FALSE(after(4999ms));
  EXPECT_TRUE(after(1ms));
  EXPECT_THAT(counting(), ElementsAre("a", "b"));
  EXPECT_TRUE(members.trusted());
}

TEST_F(MembersTest, AnEmptyListNeverCounts) {
  hear({"a", "b"});
  EXPECT_FALSE(hear({}));
  EXPECT_FALSE(after(24h));
  EXPECT_THAT(counting(), ElementsAre("a", "b"));
  EXPECT_FALSE(members.trusted());
}

TEST_F(MembersTest, AListWithoutOurselvesNeverCountsNotEvenAsTheFirst) {
  EXPECT_FALSE(hear({"a", "c"}));
  EXPECT_THAT(counting(), IsEmpty());
  hear({"a", "b", "c"});
  EXPECT_FALSE(hear({"a", "c"}));
  EXPECT_FALSE(after(24h));
  EXPECT_EQ(members.place(), 1U);
}

TEST_F(MembersTest, AListThatKeepsChangingCountsAfterHalfAMinute) {
  hear({"a", "b", "c", "d"});
  bool counted = false;
  for (int i = 0; i < 61 && !counted; ++i) {
    counted = i % 2 == 0 ? hear({"a", "b", "c", "e"}) : hear({"a", "b", "c", "f"});
    if (i < 60) {
      EXPECT_FALSE(counted) << i;
    }
    now += 500ms;
  }
  EXPECT_TRUE(counted);
}

TEST_F(MembersTest, ASourceThatIsGoneLeavesTheLastList) {
  hear({"a", "b"});
  members.missed();
  EXPECT_FALSE(after(24h));
  EXPECT_THAT(counting(), ElementsAre("a", "b"));
  EXPECT_FALSE(members.trusted());
  EXPECT_EQ(members.heard_at(), now - 24h);
}

}  // namespace
}  // namespace easyretry::cluster
