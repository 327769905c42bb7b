#include <set>

#include <gtest/gtest.h>

#include "storage/postgres/params.h"

namespace easyretry::storage::postgres {
namespace {

// Rows are stored under these numbers: they must not change.
TEST(Lane, HasFixedVectors) {
  EXPECT_EQ(lane_of("default", ShardId{0}), static_cast<std::int32_t>(2470140894U << 12U));
  EXPECT_EQ(lane_of("", ShardId{5}), static_cast<std::int32_t>(2166136261U << 12U | 5U));
}

TEST(Lane, TellsItsShard) {
  for (const int shard : {0, 1, 63, 4095}) {
    const ShardId id{static_cast<std::uint16_t>(shard)};
    EXPECT_EQ(shard_in(lane_of("payments", id)), id);
  }
}

TEST(Lane, IsAnotherForEachShardAndForOtherNamespaces) {
  std::set<std::int32_t> lanes;
  for (const char* name_space : {"default", "payments", "refunds", "shop"}) {
    for (std::uint16_t shard = 0; shard < 64; ++shard) lanes.insert(lane_of(name_space, ShardId{shard}));
  }
  EXPECT_EQ(lanes.size(), 4U * 64U);
}

}  // namespace
}  // namespace easyretry::storage::postgres
