#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/reshard.h"

namespace easyretry::storage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ShardCount, IsReadAsItIsWritten) {
  for (const ShardCount& count : {ShardCount{64}, ShardCount{1}, ShardCount{4096, 1}, ShardCount{16, 16}}) {
    EXPECT_EQ(parse_shard_count(to_text(count)), count);
  }
  EXPECT_EQ(to_text({64, 32}), "64>32");
}

TEST(ShardCount, NonsenseIsRefusedByItsText) {
  for (const char* text : {"", "0", "4097", "-1", "64 ", "sixty", "64>", ">64", "64>0", "64>32>16"}) {
    EXPECT_THROW(parse_shard_count(text), std::invalid_argument) << text;
  }
}

TEST(ShardCount, LetsInThoseWhoHaveTheSameNumberAlone) {
  EXPECT_EQ(shard_refusal({64}, 64), std::nullopt);
  EXPECT_THAT(shard_refusal({64}, 32).value(), AllOf(HasSubstr("set shards=64"), HasSubstr("reshard")));
  EXPECT_THAT(shard_refusal({64, 32}, 64).value(), HasSubstr("--shards 32"));
  EXPECT_THAT(shard_refusal({64, 32}, 32).value(), HasSubstr("--shards 32"));
}

}  // namespace
}  // namespace easyretry::storage
