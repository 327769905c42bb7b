// Instances with a store each, which beat again and again: whatever changes is in the next list.

#include <map>

#include "unit/servers/server_stores.h"

namespace easyretry::storage {
namespace {

using ::testing::ElementsAre;

class ServerMembers : public ServerStores {
 protected:
  static constexpr Millis kTtl = 10s;

  // The announcements of all members, in the order of the nodes, as this one's next beat returns them.
  std::vector<std::string> heard_by(const std::string& node) {
    std::vector<std::string> all;
    for (const Member& member : beat(node)) all.push_back(member.node + " " + member.says);
    return all;
  }
  std::vector<Member> beat(const std::string& node) {
    auto& store = stores_[node];
    if (!store) store = open(Layout::single());
    return store->beat({.name_space = "shop", .node = node, .ttl = kTtl, .says = says_[node]}).value().members;
  }

  std::map<std::string, std::unique_ptr<Store>> stores_;
  std::map<std::string, std::string> says_{{"a", "1"}, {"b", "2"}, {"c", "3"}};
};
ON_EACH_SERVER(ServerMembers);

TEST_P(ServerMembers, ArrivalsAndDeparturesAreInTheNextListOfTheOthers) {
  EXPECT_THAT(heard_by("b"), ElementsAre("b 2"));
  EXPECT_THAT(heard_by("b"), ElementsAre("b 2"));
  heard_by("a");
  EXPECT_THAT(heard_by("b"), ElementsAre("a 1", "b 2"));
  heard_by("c");
  EXPECT_THAT(heard_by("b"), ElementsAre("a 1", "b 2", "c 3"));
  stores_["a"]->leave("shop", "a").value();
  EXPECT_THAT(heard_by("b"), ElementsAre("b 2", "c 3"));
}

TEST_P(ServerMembers, AnnouncementsOfOthersAndOnesOwnAreInTheNextList) {
  heard_by("a");
  EXPECT_THAT(heard_by("b"), ElementsAre("a 1", "b 2"));
  says_["a"] = "one";
  heard_by("a");
  EXPECT_THAT(heard_by("b"), ElementsAre("a one", "b 2"));
  says_["b"] = "two";
  EXPECT_THAT(heard_by("b"), ElementsAre("a one", "b two"));
  EXPECT_THAT(heard_by("a"), ElementsAre("a one", "b two"));
}

TEST_P(ServerMembers, ADeadMemberIsMissingFromTheNextListAndJoinsAnewWhenItIsBack) {
  heard_by("a");
  heard_by("b");
  clock.advance(kTtl / 2);
  EXPECT_THAT(heard_by("b"), ElementsAre("a 1", "b 2"));
  clock.advance(kTtl / 2);
  EXPECT_THAT(heard_by("b"), ElementsAre("b 2"));
  EXPECT_EQ(rows("retry_member"), 1) << "the dead are removed";
  EXPECT_EQ(beat("a").at(0).since, clock.now());
  EXPECT_EQ(beat("b").at(0).since, clock.now()) << "b has heard of it";
}

TEST_P(ServerMembers, AMemberTakenForDeadWithoutBeingRemovedJoinsAnew) {
  heard_by("a");
  heard_by("a");
  clock.advance(kTtl);
  EXPECT_EQ(beat("a").at(0).since, clock.now());
  EXPECT_EQ(beat("a").at(0).since, clock.now());
}

}  // namespace
}  // namespace easyretry::storage
