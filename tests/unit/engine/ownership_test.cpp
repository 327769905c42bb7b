// Which tasks an instance scans for and when, by handler and shard.

#include "engine/ownership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Role = Ownership::Role;

ShardId shard(int number) {
  return ShardId{static_cast<std::uint16_t>(number)};
}

std::vector<ShardId> shards(std::initializer_list<int> numbers) {
  std::vector<ShardId> all;
  for (const int number : numbers) all.push_back(shard(number));
  return all;
}

TEST(Ownership, IsByHandler) {
  const Ownership owned{{.own = {{{"mail", "pay"}, shards({0, 2})}, {{"ship"}, shards({1})}},
                         .rest = shards({3}),
                         .announced = {"audit", "mail", "pay", "ship"}},
                        {}};
  EXPECT_EQ(owned.part("pay").role(shard(2)), Role::owns);
  EXPECT_EQ(owned.part("pay").role(shard(1)), Role::none);
  EXPECT_EQ(owned.part("ship").role(shard(1)), Role::owns);
  EXPECT_EQ(owned.part("audit").role(shard(3)), Role::none) << "another instance runs it";
  EXPECT_EQ(owned.part("unheard of").role(shard(3)), Role::owns);
  EXPECT_THAT(owned.shards().list(), ElementsAre(shard(0), shard(1), shard(2), shard(3)));
}

TEST(Ownership, StandsByForShardsThatOtherListsWouldGive) {
  const cluster::Shares now{.own = {{{"pay"}, shards({0})}}, .rest = {}, .announced = {"pay"}};
  const cluster::Shares before{.own = {{{"pay"}, shards({0, 1})}}, .rest = shards({4}), .announced = {"pay"}};
  const Ownership owned{now, {before}};
  EXPECT_EQ(owned.part("pay").role(shard(0)), Role::owns);
  EXPECT_EQ(owned.part("pay").role(shard(1)), Role::stands_by);
  EXPECT_EQ(owned.part("unheard of").role(shard(4)), Role::stands_by);
  EXPECT_THAT(owned.shards().list(), ElementsAre(shard(0), shard(1), shard(4)));
  EXPECT_FALSE(owned == (Ownership{now, {}}));
}

// One that reads, and one that only stores.
struct OwnershipAtWork : ::testing::Test {
  OwnershipAtWork() {
    reader.handle("pay", [this] { ++ran; });
    submitter.handle("pay", [] {});
    submitter.handle("mail", [] {});
  }
  // As of a list: `mine` of "pay", and nothing of "mail", which another member runs.
  void own(std::vector<ShardId> mine, std::vector<cluster::Shares> others = {}) {
    reader.core.own(
        Ownership{{.own = {{{"pay"}, std::move(mine)}}, .rest = all(), .announced = {"mail", "pay"}}, others});
  }
  static std::vector<ShardId> all() {
    const auto every = ShardSet::all(64);
    return {every.list().begin(), every.list().end()};
  }
  void run() {
    for (int i = 0; i < 5; ++i) reader.all();
  }

  SharedStore shared;
  VirtualInstance reader{shared};
  VirtualInstance submitter{shared};
  int ran = 0;
};

TEST_F(OwnershipAtWork, ATaskOfAnotherMembersShardIsLeftToItAlsoWhereTheShardIsRead) {
  own({});
  submitter.submit("pay", "k");
  shared.clock.advance(10s);
  run();
  EXPECT_EQ(ran, 0);
  own(all());
  run();
  EXPECT_EQ(ran, 1);
}

TEST_F(OwnershipAtWork, ATaskOverdueByMoreThanTheGraceIsClaimedByAnyInstance) {
  own({});
  submitter.submit("pay", "k");
  shared.clock.advance(61s);
  run();
  EXPECT_EQ(ran, 1);
}

TEST_F(OwnershipAtWork, AnInstanceOnStandbyLeavesATaskToItsOwnerForAMoment) {
  own({}, {{.own = {{{"pay"}, all()}}, .rest = {}, .announced = {"mail", "pay"}}});
  submitter.submit("pay", "k");
  run();
  EXPECT_EQ(ran, 0);
  shared.clock.advance(99ms);
  run();
  EXPECT_EQ(ran, 0);
  shared.clock.advance(2ms);
  reader.core.claimers()[0].step();
  reader.run_handlers();
  EXPECT_EQ(ran, 1);
}

TEST_F(OwnershipAtWork, OnlyTasksThatNoMemberRunsCountAsWithoutAHandler) {
  own(all());
  submitter.submit("mail", "k");
  submitter.submit("fax", "another");
  shared.clock.advance(10s);
  run();
  EXPECT_THAT(reader.core.stats().no_handler, ElementsAre(::testing::Pair("fax", 1)));
}

TEST_F(OwnershipAtWork, TasksReadAheadAreForgottenWhenTheirShardIsGivenAway) {
  own(all());
  reader.submit("pay", "k");
  EXPECT_EQ(reader.core.schedule().held(), 1U);
  own({});
  EXPECT_EQ(reader.core.schedule().held(), 0U);
}

}  // namespace
}  // namespace easyretry::engine
