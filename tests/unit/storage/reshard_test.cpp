// What others may do between two steps of a reshard, which no server can be made to do at the right moment.

#include "storage/reshard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Becomes what `after_mark` says as soon as the count is marked.
struct ChangingRows final : ShardedRows {
  StoredSettings now{.total_shards = "64", .layout = "hash(4)"};
  std::string after_mark = "hash(4)";
  std::vector<std::string> counts;

  StoredSettings settings() override { return now; }
  std::vector<std::string> tables() override { return {"retry_task_0"}; }
  ShardPage look(const ShardPageQuery&) override { return {.rows = 1, .misnumbered = 1}; }
  std::optional<ShardPage> renumber(const ShardPageQuery&, const ShardCount&) override { return ShardPage{}; }
  bool change(const ShardCount& from, const ShardCount& to) override {
    if (now.total_shards != to_text(from)) return false;
    now = {.total_shards = to_text(to), .layout = after_mark};
    counts.push_back(now.total_shards);
    return true;
  }
};

TEST(ReshardFlow, MarksTheCountRenumbersAndSetsIt) {
  ChangingRows rows;
  reshard(rows, "test", {.shards = 12});
  EXPECT_THAT(rows.counts, ElementsAre("64>12", "12"));
}

TEST(ReshardFlow, ASplitThatBeganAtTheSameMomentGoesFirst) {
  ChangingRows rows;
  rows.after_mark = "hash(4)>hash(8)";
  EXPECT_THAT([&] { reshard(rows, "test", {.shards = 12}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("easyretry split")));
  EXPECT_THAT(rows.counts, ElementsAre("64>12", "64"));
}

TEST(ReshardFlow, ASplitThatWasDoneAtTheSameMomentMayForbidTheNumber) {
  ChangingRows rows;
  rows.after_mark = "hash(8)";
  EXPECT_THAT([&] { reshard(rows, "test", {.shards = 12}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("do not divide 12")));
  EXPECT_THAT(rows.counts, ElementsAre("64>12", "64"));
}

}  // namespace
}  // namespace easyretry::storage
