#include <map>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "storage/table_router.h"
#include "support/refusal.h"

namespace easyretry::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refused(const Layout& from, const Layout& to) {
  return test::refusal<std::invalid_argument>([&] { split(from, to, 64); });
}

// Which table of `router` each shard lives in.
std::map<ShardId, TableId> places(const TableRouter& router) {
  std::map<ShardId, TableId> places;
  for (int shard = 0; shard < router.total_shards(); ++shard) {
    const ShardId id{static_cast<std::uint16_t>(shard)};
    places[id] = router.table_of(TimePoint{}, id);
  }
  return places;
}

// 002.md of the design lets retry_task_0 keep 0 and 16 and give 32 and 48 away. By shard % 32, which is what finds a
// row afterwards, 32 stays and 16 goes.
TEST(Splits, Table0Of16Keeps0And32AndGives16And48ToTable16) {
  const auto moves = split(Layout::hash(16), Layout::hash(32), 64);
  ASSERT_EQ(moves.size(), 16U);
  EXPECT_EQ(moves.front(), (TableMove{{0, 0}, {0, 16}, {ShardId{16}, ShardId{48}}}));
  EXPECT_EQ(moves.back(), (TableMove{{0, 15}, {0, 31}, {ShardId{31}, ShardId{63}}}));
}

TEST(Splits, MayGoToAnyMultiple) {
  EXPECT_THAT(split(Layout::hash(1), Layout::hash(3), 6),
              ElementsAre(TableMove{{0, 0}, {0, 1}, {ShardId{1}, ShardId{4}}},
                          TableMove{{0, 0}, {0, 2}, {ShardId{2}, ShardId{5}}}));
}

TEST(Splits, OtherNumbersAndLayoutsAreRefused) {
  EXPECT_EQ(refused(Layout::hash(16), Layout::hash(8)),
            "cannot split hash(16) into hash(8); the new number must be a multiple of 16, such as 32");
  EXPECT_THAT(refused(Layout::hash(16), Layout::hash(16)), HasSubstr("multiple of 16"));
  EXPECT_THAT(refused(Layout::hash(16), Layout::hash(48)), HasSubstr("hash(48) does not divide 64 shards"));
  EXPECT_THAT(refused(Layout::hash(0), Layout::hash(16)), HasSubstr("hash(0) does not divide 64 shards"));
  EXPECT_THAT(refused(Layout::single(), Layout::hash(2)), HasSubstr("only hash layouts can be split"));
  EXPECT_THAT(refused(Layout::hash(2), Layout::period(PeriodLength::day, 4)), HasSubstr("only hash layouts"));
}

RC_GTEST_PROP(Splits, MoveEachShardAtMostOnceToWhereTheNewLayoutLooksForIt, ()) {
  const int from = *rc::gen::inRange(1, 9);
  const int to = from * *rc::gen::inRange(2, 6);
  const int total = to * *rc::gen::inRange(1, 9);
  auto place = places(TableRouter{Layout::hash(from), total});
  std::set<ShardId> moved;
  for (const TableMove& move : split(Layout::hash(from), Layout::hash(to), total)) {
    RC_ASSERT(move.to.suffix >= from);
    RC_ASSERT(!move.shards.empty());
    for (const ShardId shard : move.shards) {
      RC_ASSERT(moved.insert(shard).second);
      RC_ASSERT(place.at(shard) == move.from);
      place[shard] = move.to;
    }
  }
  RC_ASSERT(place == places(TableRouter{Layout::hash(to), total}));
  RC_ASSERT(static_cast<int>(moved.size()) == total - total / to * from);
}

}  // namespace
}  // namespace easyretry::storage
