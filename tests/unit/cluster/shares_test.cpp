// Which shards of which handlers a member serves.

#include "cluster/shares.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kTotal = 8;

Member member(std::string node, std::optional<std::vector<std::string>> handlers = std::nullopt) {
  return {.node = std::move(node), .handlers = std::move(handlers)};
}

std::vector<int> numbers(const std::vector<ShardId>& shards) {
  std::vector<int> all;
  for (const ShardId shard : shards) all.push_back(static_cast<int>(shard));
  return all;
}

// How many owners each shard of a handler has.
std::map<int, int> owners(const std::vector<Member>& fleet, const std::string& handler, Assignment assignment) {
  std::map<int, int> counts;
  for (std::size_t i = 0; i < fleet.size(); ++i) {
    for (const Share& share : shares_of(fleet, i, {kTotal, assignment}).own) {
      if (std::ranges::find(share.handlers, handler) == share.handlers.end()) continue;
      for (const int shard : numbers(share.shards)) ++counts[shard];
    }
  }
  return counts;
}

TEST(Shares, FollowTheAssignmentIfAllMembersRunTheSameHandlers) {
  const std::vector<Member> fleet{member("a", {{"mail", "pay"}}), member("b", {{"mail", "pay"}}),
                                  member("c", {{"mail", "pay"}})};
  for (const Assignment assignment : {Assignment::stride, Assignment::even}) {
    for (std::size_t i = 0; i < fleet.size(); ++i) {
      const Shares shares = shares_of(fleet, i, {kTotal, assignment});
      ASSERT_THAT(shares.own, SizeIs(1));
      EXPECT_THAT(shares.own[0].handlers, ElementsAre("mail", "pay"));
      EXPECT_EQ(shares.own[0].shards, shards_of(i, 3, {kTotal, assignment}));
      EXPECT_EQ(shares.rest, shares.own[0].shards);
      EXPECT_EQ(shares.all(), shares.own[0].shards) << "no member reads more than its share";
    }
  }
}

TEST(Shares, EveryShardOfAHandlerHasOneOwnerAmongItsMembers) {
  const std::vector<Member> fleet{member("a", {{"mail"}}), member("b", {{"mail", "pay"}}), member("c", {{"pay"}}),
                                  member("d", {{}}), member("e", {{"ship"}})};
  for (const Assignment assignment : {Assignment::stride, Assignment::even}) {
    for (const std::string handler : {"mail", "pay", "ship"}) {
      const auto counts = owners(fleet, handler, assignment);
      EXPECT_THAT(counts, SizeIs(kTotal)) << handler;
      for (const auto& [shard, times] : counts) EXPECT_EQ(times, 1) << handler << " in shard " << shard;
    }
  }
}

TEST(Shares, AMemberThatDoesNotNameItsHandlersGetsAShareOfAllOfThem) {
  const std::vector<Member> fleet{member("a", {{"mail"}}), member("b"), member("c", {{"pay"}})};
  EXPECT_EQ(numbers(shares_of(fleet, 0, {kTotal, Assignment::stride}).own.at(0).shards), (std::vector{0, 2, 4, 6}));
  EXPECT_EQ(numbers(shares_of(fleet, 2, {kTotal, Assignment::stride}).own.at(0).shards), (std::vector{1, 3, 5, 7}));
}

TEST(Shares, AMemberWithoutHandlersHasNoShards) {
  const std::vector<Member> fleet{member("a", {{}}), member("b", {{"pay"}})};
  EXPECT_THAT(shares_of(fleet, 0, {kTotal, Assignment::stride}).all(), IsEmpty());
  EXPECT_THAT(shares_of(fleet, 1, {kTotal, Assignment::stride}).all(), SizeIs(kTotal));
}

// Serving them costs no extra reads.
TEST(Shares, UnnamedHandlersAreReadOncePerShardAtNoExtraCost) {
  const std::vector<Member> fleet{member("a", {{"mail"}}), member("b", {{"pay"}}), member("c", {{"pay"}}),
                                  member("d", {{"ship"}})};
  std::map<int, int> seen;
  for (std::size_t i = 0; i < fleet.size(); ++i) {
    const Shares shares = shares_of(fleet, i, {kTotal, Assignment::stride});
    for (const int shard : numbers(shares.rest)) ++seen[shard];
    if (shares.rest.empty()) continue;
    EXPECT_EQ(shares.all(), shares.own.at(0).shards);
  }
  EXPECT_THAT(seen, SizeIs(kTotal));
  for (const auto& [shard, times] : seen) EXPECT_EQ(times, 1) << shard;
}

TEST(Shares, IfNoMemberRunsAHandlerEachReadsItsPart) {
  const std::vector<Member> fleet{member("a", {{}}), member("b", {{}})};
  EXPECT_EQ(numbers(shares_of(fleet, 1, {kTotal, Assignment::stride}).rest), (std::vector{1, 3, 5, 7}));
}

TEST(Shares, NameAllHandlersThatAnyMemberRuns) {
  const std::vector<Member> fleet{member("a", {{"ship"}}), member("b", {{"mail", "pay"}}), member("c")};
  EXPECT_THAT(shares_of(fleet, 0, {kTotal, Assignment::stride}).announced, ElementsAre("mail", "pay", "ship"));
}

}  // namespace
}  // namespace easyretry::cluster
