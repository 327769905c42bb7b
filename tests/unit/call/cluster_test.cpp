// engine.cluster(): the members and their shards.

#include "support/eventually.h"
#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

TEST_F(EngineTest, OnAStoreOfItsOwnItIsTheOnlyMemberAndHasAllShards) {
  Engine alone{"memory:?shards=8"};
  const ClusterView view = alone.cluster();
  EXPECT_EQ(view.source, "alone");
  EXPECT_TRUE(view.trusted);
  ASSERT_EQ(view.members.size(), 1U);
  EXPECT_EQ(view.members[0].node, view.self);
  EXPECT_EQ(view.shards.size(), 8U);
}

TEST_F(EngineTest, APlaceThatWasWrittenDownGivesItsShards) {
  Engine third{"memory:?shards=16", {.membership = "static:2/8"}};
  third.retryable("pay", [](int) {});  // an instance without handlers has no shards
  third.start();
  EXPECT_TRUE(eventually([&] { return third.cluster().shards == std::vector<ShardId>{ShardId{2}, ShardId{10}}; }));
  EXPECT_EQ(third.cluster().members.size(), 8U);
  EXPECT_EQ(third.cluster().source, "static");
}

TEST_F(EngineTest, AnUnknownMembershipIsRefusedWithTheValidOnes) {
  EXPECT_THAT(refusal([] {
                Engine bad{"memory:", {.membership = "zookeeper"}};
              }),
              HasSubstr("write store (instances find each other in the store), alone, static:2/8"));
}

}  // namespace
}  // namespace easyretry::test
