#include <algorithm>
#include <iterator>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cluster/shares.h"

namespace easyretry::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

std::vector<ShardId> range(int from, int to) {
  std::vector<ShardId> shards;
  for (int shard = from; shard <= to; ++shard) shards.push_back(static_cast<ShardId>(shard));
  return shards;
}

std::vector<std::size_t> sizes(std::size_t members, int total, Assignment assignment) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < members; ++i) all.push_back(shards_of(i, members, {total, assignment}).size());
  return all;
}

TEST(ShardMap, SixtyFourEvenlyOverTenGiveTheFirstFourOneMore) {
  EXPECT_THAT(sizes(10, 64, Assignment::even), ElementsAre(7, 7, 7, 7, 6, 6, 6, 6, 6, 6));
  EXPECT_EQ(shards_of(0, 10, {64, Assignment::even}), range(0, 6));
  EXPECT_EQ(shards_of(9, 10, {64, Assignment::even}), range(58, 63));
}

TEST(ShardMap, AStrideKeepsTheRemainder) {
  EXPECT_THAT(shards_of(3, 8, {64, Assignment::stride}),
              ElementsAreArray(std::vector<ShardId>{ShardId{3}, ShardId{11}, ShardId{19}, ShardId{27}, ShardId{35},
                                                    ShardId{43}, ShardId{51}, ShardId{59}}));
}

TEST(ShardMap, OneMemberHasThemAll) {
  for (const Assignment assignment : {Assignment::stride, Assignment::even}) {
    EXPECT_EQ(shards_of(0, 1, {64, assignment}), range(0, 63));
  }
}

TEST(ShardMap, WithMoreMembersThanShardsSomeHaveNone) {
  for (const Assignment assignment : {Assignment::stride, Assignment::even}) {
    EXPECT_THAT(sizes(6, 4, assignment), ElementsAre(1, 1, 1, 1, 0, 0));
  }
}

TEST(ShardMap, IsDescribedInAFewWords) {
  EXPECT_EQ(described({}), "none");
  EXPECT_EQ(described(range(58, 63)), "6: 58-63");
  EXPECT_EQ(described(shards_of(3, 8, {64, Assignment::stride})), "8: every 8th from 3");
  EXPECT_EQ(described(shards_of(1, 22, {64, Assignment::stride})), "3: every 22nd from 1");
  EXPECT_EQ(described(shards_of(1, 11, {64, Assignment::stride})), "6: every 11th from 1");
  EXPECT_EQ(described({ShardId{5}, ShardId{9}}), "2: 5 9");
  EXPECT_EQ(described({ShardId{0}, ShardId{1}, ShardId{2}, ShardId{64}, ShardId{65}}), "5: 0-2 64 65");
}

RC_GTEST_PROP(ShardMap, EveryShardHasOneOwnerAndSharesDifferByAtMostOne, ()) {
  const auto members = *rc::gen::inRange<std::size_t>(1, 200);
  const auto total = *rc::gen::inRange(1, 4097);
  const auto assignment = *rc::gen::element(Assignment::stride, Assignment::even);
  std::vector<int> owners(static_cast<std::size_t>(total));
  std::size_t fewest = owners.size();
  std::size_t most = 0;
  for (std::size_t i = 0; i < members; ++i) {
    const auto shards = shards_of(i, members, {total, assignment});
    fewest = std::min(fewest, shards.size());
    most = std::max(most, shards.size());
    RC_ASSERT(std::is_sorted(shards.begin(), shards.end()));
    for (const ShardId shard : shards) ++owners.at(static_cast<std::size_t>(shard));
  }
  RC_ASSERT(std::count(owners.begin(), owners.end(), 1) == total);
  RC_ASSERT(most - fewest <= 1);
}

TEST(GrownShards, AreDividedInBlocksSeparatelyFromTheOldOnes) {
  const Division grown{128, Assignment::even, {64}};
  EXPECT_EQ(described(shards_of(0, 4, grown)), "32: 0-15 64-79");
  EXPECT_EQ(described(shards_of(3, 4, grown)), "32: 48-63 112-127");
}

TEST(GrownShards, GoFirstToTheMembersThatGotFewerOfTheOldOnes) {
  const Division grown{16, Assignment::even, {8}};
  EXPECT_EQ(described(shards_of(0, 3, grown)), "6: 0-2 11-13");
  EXPECT_EQ(described(shards_of(1, 3, grown)), "5: 3-5 14 15");
  EXPECT_EQ(described(shards_of(2, 3, grown)), "5: 6-10");
}

// The shards of one member below `number`.
std::size_t below(const std::vector<ShardId>& shards, int number) {
  return static_cast<std::size_t>(std::ranges::lower_bound(shards, static_cast<ShardId>(number)) - shards.begin());
}

RC_GTEST_PROP(GrownShards, EachMemberHasAFairShareOfTheShardsOfEveryTime, ()) {
  const auto members = *rc::gen::inRange<std::size_t>(1, 100);
  const auto numbers = *rc::gen::container<std::set<int>>(rc::gen::inRange(1, 4097));
  RC_PRE(!numbers.empty());
  Division division{*numbers.rbegin(), *rc::gen::element(Assignment::stride, Assignment::even)};
  division.earlier_shards.assign(numbers.begin(), std::prev(numbers.end()));
  std::vector<int> owners(static_cast<std::size_t>(division.total_shards));
  for (std::size_t i = 0; i < members; ++i) {
    const auto shards = shards_of(i, members, division);
    RC_ASSERT(std::ranges::is_sorted(shards));
    for (const ShardId shard : shards) ++owners.at(static_cast<std::size_t>(shard));
    for (const int number : numbers) {
      const auto fair = static_cast<std::size_t>(number) / members;
      const std::size_t has = below(shards, number);
      RC_ASSERT(has == fair || has == fair + 1);
    }
  }
  RC_ASSERT(std::ranges::count(owners, 1) == division.total_shards);
}

TEST(ShardsDescribed, AreNeverLong) {
  std::vector<ShardId> odd;
  for (int i = 0; i < 4096; i += i % 3 + 1) odd.push_back(ShardId{static_cast<std::uint16_t>(i)});
  EXPECT_LE(described(odd).size(), 320U);
  EXPECT_TRUE(described(odd).starts_with(std::to_string(odd.size()) + ": 0 1 3"));
}

}  // namespace
}  // namespace easyretry::cluster
