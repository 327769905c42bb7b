// The slots of keys in a cluster.

#include <set>

#include "unit/redis_cluster/support.h"

namespace easyretry::storage {
namespace {

TEST(RedisSlots, AreThoseOfTheSpecification) {
  EXPECT_EQ(redis::slot_of("123456789"), 0x31c3 % redis::kSlots);
  EXPECT_EQ(redis::slot_of(""), 0);
  PlainRedis node{test::shared_server_port(ServerKind::redis_cluster)};
  for (const std::string tag : {"easyretry", "easyretry.3~17", "shop:a.b-c_d"}) {
    EXPECT_EQ(node.run({"CLUSTER", "KEYSLOT", "{" + tag + "}:body"}), std::to_string(redis::slot_of(tag)));
  }
}

TEST(RedisSlots, TagsAreOneInEachOfEqualRangesSoThatPrimariesHaveEquallyMany) {
  for (const int count : {1, 3, 12, 24, 1'024}) {
    const auto tags = redis::spread_tags("shop", count);
    ASSERT_THAT(tags, SizeIs(static_cast<std::size_t>(count)));
    for (int i = 0; i < count; ++i) {
      const int slot = redis::slot_of(tags[static_cast<std::size_t>(i)]);
      EXPECT_GE(slot, i * redis::kSlots / count);
      EXPECT_LT(slot, (i + 1) * redis::kSlots / count);
    }
  }
}

// Stored tasks are found by their tags, so all releases must compute the same.
TEST(RedisSlots, TagsStayAsTheyAre) {
  const auto tags = redis::spread_tags("easyretry", 12);
  EXPECT_EQ(tags.front() + " " + tags.back(), "easyretry.0~13 easyretry.11~40");
}

}  // namespace
}  // namespace easyretry::storage
