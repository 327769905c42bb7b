// When a list of members takes effect.

#include "cluster/members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MembersTest : public ::testing::Test {
 protected:
  static std::vector<Member> list(const std::vector<std::string>& nodes) {
    std::vector<Member> members;
    for (const std::string& node : nodes) members.push_back({.node = node});
    return members;
  }
  // The source reports this list now and keeps reporting it.
  bool report(const std::vector<std::string>& nodes) {
    members.report(list(nodes), now);
    return members.apply(now);
  }
  bool after(Instant::duration time) {
    now += time;
    return members.apply(now);
  }
  std::vector<std::string> in_effect() const {
    std::vector<std::string> nodes;
    for (const Member& member : members.list()) nodes.push_back(member.node);
    return nodes;
  }

  Instant now{1h};
  Members members{"b"};
};

TEST_F(MembersTest, TheFirstListTakesEffectAtOnceSortedByNode) {
  EXPECT_TRUE(report({"c", "b", "a", "b"}));
  EXPECT_THAT(in_effect(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(members.place(), 1U);
  EXPECT_TRUE(members.trusted());
}

TEST_F(MembersTest, WithoutAListThisInstanceHasNoPlace) {
  EXPECT_FALSE(after(1h));
  EXPECT_EQ(members.place(), std::nullopt);
  EXPECT_FALSE(members.trusted());
}

TEST_F(MembersTest, AJoinTakesEffectAfterASecondWithoutAnother) {
  report({"a", "b"});
  EXPECT_FALSE(report({"a", "b", "c"}));
  EXPECT_FALSE(members.trusted());
  EXPECT_EQ(members.next(), now + 1s);
  after(900ms);
  EXPECT_FALSE(report({"a", "b", "c", "d"}));
  EXPECT_FALSE(after(900ms));
  EXPECT_TRUE(after(100ms));
  EXPECT_TRUE(members.trusted());
  EXPECT_THAT(in_effect(), ElementsAre("a", "b", "c", "d"));
}

TEST_F(MembersTest, ALeaveTakesEffectAfterTwoSeconds) {
  report({"a", "b", "c"});
  EXPECT_FALSE(report({"b", "c"}));
  EXPECT_FALSE(after(1999ms));
  EXPECT_TRUE(after(1ms));
  EXPECT_THAT(in_effect(), ElementsAre("b", "c"));
}

TEST_F(MembersTest, AMemberThatReturnsInTimeNeverLeft) {
  report({"a", "b", "c"});
  report({"b", "c"});
  after(1s);
  EXPECT_FALSE(report({"a", "b", "c"}));
  EXPECT_FALSE(after(1h));
  EXPECT_TRUE(members.trusted());
}

TEST_F(MembersTest, AListThatLostMoreThanHalfTakesEffectOnlyIfItStaysLikeThat) {
  report({"a", "b", "c", "d", "e"});
  EXPECT_FALSE(report({"a", "b"}));
  EXPECT_FALSE(members.trusted());
  EXPECT_FALSE(after(4999ms));
  EXPECT_TRUE(after(1ms));
  EXPECT_THAT(in_effect(), ElementsAre("a", "b"));
  EXPECT_TRUE(members.trusted());
}

TEST_F(MembersTest, AnEmptyListNeverTakesEffect) {
  report({"a", "b"});
  EXPECT_FALSE(report({}));
  EXPECT_FALSE(after(24h));
  EXPECT_THAT(in_effect(), ElementsAre("a", "b"));
  EXPECT_FALSE(members.trusted());
}

TEST_F(MembersTest, AListWithoutThisInstanceNeverTakesEffectNotEvenAsTheFirst) {
  EXPECT_FALSE(report({"a", "c"}));
  EXPECT_THAT(in_effect(), IsEmpty());
  report({"a", "b", "c"});
  EXPECT_FALSE(report({"a", "c"}));
  EXPECT_FALSE(after(24h));
  EXPECT_EQ(members.place(), 1U);
}

TEST_F(MembersTest, AListThatKeepsChangingTakesEffectAfterHalfAMinute) {
  report({"a", "b", "c", "d"});
  bool changed = false;
  for (int i = 0; i < 61 && !changed; ++i) {
    changed = i % 2 == 0 ? report({"a", "b", "c", "e"}) : report({"a", "b", "c", "f"});
    if (i < 60) {
      EXPECT_FALSE(changed) << i;
    }
    now += 500ms;
  }
  EXPECT_TRUE(changed);
}

TEST_F(MembersTest, IfTheSourceIsGoneTheLastListStaysInEffect) {
  report({"a", "b"});
  members.report_failure();
  EXPECT_FALSE(after(24h));
  EXPECT_THAT(in_effect(), ElementsAre("a", "b"));
  EXPECT_FALSE(members.trusted());
  EXPECT_EQ(members.reported_at(), now - 24h);
}

}  // namespace
}  // namespace easyretry::cluster
