// Changes by other processes between two steps of a reshard, which no real server makes at the right moment.

#include "storage/reshard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

// Becomes what `after_mark` says as soon as the count is marked.
struct ChangingRows final : ShardedRows {
  StoredSettings now{.total_shards = "64", .layout = "hash(4)"};
  std::string after_mark = "hash(4)";
  std::vector<std::string> counts;
  bool remembers = true;

  StoredSettings settings() override { return now; }
  std::vector<std::string> tables() override { return {"retry_task_0"}; }
  ShardPage look(const ShardPageQuery&) override { return {.rows = 1, .misnumbered = 1}; }
  std::optional<ShardPage> renumber(const ShardPageQuery&, const ShardCount&) override { return ShardPage{}; }
  bool remember(int shards) override {
    if (remembers) counts.push_back("had " + std::to_string(shards));
    return remembers;
  }
  bool change(const ShardCount& from, const ShardCount& to) override {
    if (now.total_shards != to_text(from)) return false;
    now = {.total_shards = to_text(to), .layout = after_mark};
    counts.push_back(now.total_shards);
    return true;
  }
};

TEST(ReshardFlow, KeepsTheOldCountMarksItRenumbersAndSetsTheNewOne) {
  ChangingRows rows;
  reshard(rows, "test", {.shards = 12});
  EXPECT_THAT(rows.counts, ElementsAre("had 64", "64>12", "12"));
}

TEST(ReshardFlow, GoesOnFromTheMarkOfARunThatWasCutOff) {
  ChangingRows rows;
  rows.now.total_shards = "64>12";
  reshard(rows, "test", {.shards = 12});
  EXPECT_THAT(rows.counts, ElementsAre("12"));
}

TEST(ReshardFlow, ChangesNothingIfTheOldCountCannotBeKept) {
  ChangingRows rows;
  rows.remembers = false;
  EXPECT_THAT([&] { reshard(rows, "test", {.shards = 12}); },
              ThrowsMessage<StoreError>(HasSubstr("another process changed the number of shards")));
  EXPECT_THAT(rows.counts, IsEmpty());
}

TEST(ReshardPlans, SayHowManyTasksAreRunningAndWhereOneOfThemIs) {
  EXPECT_EQ((ReshardPlan{.leased = 1, .holder = "worker-7"}.running_tasks()), "1 task is running, on worker-7");
  EXPECT_EQ((ReshardPlan{.leased = 2, .holder = "worker-7"}.running_tasks()),
            "2 tasks are running, one of them on worker-7");
}

TEST(EarlierShards, AreThoseBelowThePresentNumberAscending) {
  EXPECT_THAT(parse_earlier_shards("", 64), IsEmpty());
  EXPECT_THAT(parse_earlier_shards("64,128,32", 128), ElementsAre(32, 64));
  EXPECT_THAT(parse_earlier_shards("64,128,32", 256), ElementsAre(32, 64, 128));
}

TEST(EarlierShards, AreTheLatestEightEachOnce) {
  EXPECT_EQ(add_earlier_shards("64", 64), "64");
  EXPECT_EQ(add_earlier_shards("64,32", 64), "32,64");
  EXPECT_EQ(add_earlier_shards("1,2,3,4,5,6,7,8", 9), "2,3,4,5,6,7,8,9");
}

TEST(EarlierShards, ThatAreCorruptedAreNamedInTheError) {
  for (const char* text : {"0", "64,,32", ",64", "64>32", "4097", "-1", "many", "64 "}) {
    EXPECT_THAT([&] { parse_earlier_shards(text, 64); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("earlier_shards in retry_meta")))
        << text;
  }
}

TEST(ReshardFlow, ASplitThatBeganAtTheSameMomentGoesFirst) {
  ChangingRows rows;
  rows.after_mark = "hash(4)>hash(8)";
  EXPECT_THAT([&] { reshard(rows, "test", {.shards = 12}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("easyretry split")));
  EXPECT_THAT(rows.counts, ElementsAre("had 64", "64>12", "64"));
}

TEST(ReshardFlow, ASplitThatWasDoneAtTheSameMomentMayForbidTheNumber) {
  ChangingRows rows;
  rows.after_mark = "hash(8)";
  EXPECT_THAT([&] { reshard(rows, "test", {.shards = 12}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("do not divide 12")));
  EXPECT_THAT(rows.counts, ElementsAre("had 64", "64>12", "64"));
}

}  // namespace
}  // namespace easyretry::storage
