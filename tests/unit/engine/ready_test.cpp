#include "engine/ready.h"

#include <gtest/gtest.h>

namespace easyretry::engine {
namespace {

DueTask due(int id, std::uint32_t handler = 0) {
  return {{TaskId{id}, 1}, {}, handler};
}

std::vector<int> ids(const std::vector<DueTask>& tasks) {
  std::vector<int> all;
  for (const DueTask& task : tasks) all.push_back(static_cast<int>(task.id));
  return all;
}

std::size_t plenty(std::uint32_t, std::size_t) {
  return 1000;
}

TEST(Ready, TakesATaskOnlyOnce) {
  Ready ready{10};
  EXPECT_TRUE(ready.add(due(1)));
  EXPECT_FALSE(ready.add(due(1)));
  EXPECT_EQ(ready.size(), 1U);
}

TEST(Ready, GivesEachKindNoMoreThanItsRoom) {
  Ready ready{10};
  for (int i = 0; i < 5; ++i) ready.add(due(i, 0));
  for (int i = 5; i < 10; ++i) ready.add(due(i, 1));
  std::vector<DueTask> picked;
  ready.pick([](std::uint32_t handler, std::size_t) { return handler == 0 ? 1U : 3U; }, 100, picked);
  EXPECT_EQ(ids(picked), (std::vector{0, 5, 6, 7}));
  EXPECT_EQ(ready.size(), 6U);
}

TEST(Ready, NoKindIsAlwaysFirst) {
  Ready ready{10};
  for (int i = 0; i < 4; ++i) ready.add(due(i, static_cast<std::uint32_t>(i % 2)));
  std::vector<DueTask> first, second;
  ready.pick(plenty, 1, first);
  ready.pick(plenty, 1, second);
  EXPECT_NE(first[0].handler, second[0].handler);
}

TEST(Ready, PutsBackToTheHead) {
  Ready ready{10};
  for (int i = 0; i < 4; ++i) ready.add(due(i));
  std::vector<DueTask> picked;
  ready.pick(plenty, 2, picked);
  ready.put_back(picked);
  picked.clear();
  ready.pick(plenty, 10, picked);
  EXPECT_EQ(ids(picked), (std::vector{0, 1, 2, 3}));
}

TEST(Ready, DoesNotTakeATaskThatIsBeingClaimed) {
  Ready ready{10};
  ready.add(due(1));
  std::vector<DueTask> picked;
  ready.pick(plenty, 1, picked);
  EXPECT_EQ(ready.size(), 0U);
  EXPECT_FALSE(ready.add(due(1)));
  ready.release(picked);
  EXPECT_TRUE(ready.add(due(1)));
}

// A scan may bring what it read before the task was run, after which its retry comes.
TEST(Ready, ATaskThatComesInANewerVersionIsAskedForInThat) {
  Ready ready{10};
  EXPECT_TRUE(ready.add({{TaskId{1}, 1}}));
  EXPECT_FALSE(ready.add({{TaskId{1}, 3}}));
  EXPECT_FALSE(ready.add({{TaskId{1}, 1}}));
  std::vector<DueTask> picked;
  ready.pick(plenty, 10, picked);
  ASSERT_EQ(picked.size(), 1U);
  EXPECT_EQ(picked[0].version, 3);
  EXPECT_EQ(ready.release(picked), 0U);
  EXPECT_EQ(ready.size(), 0U);
}

TEST(Ready, ATaskThatComesInANewerVersionWhileItIsBeingClaimedIsAskedForAgain) {
  Ready ready{10};
  ready.add({{TaskId{1}, 1}});
  std::vector<DueTask> picked;
  ready.pick(plenty, 10, picked);
  EXPECT_FALSE(ready.add({{TaskId{1}, 3}}));
  EXPECT_EQ(ready.release(picked), 1U);
  EXPECT_EQ(ready.size(), 1U);
  EXPECT_EQ(ready.picked(), 0U);
  picked.clear();
  ready.pick(plenty, 10, picked);
  ASSERT_EQ(picked.size(), 1U);
  EXPECT_EQ(picked[0].version, 3);
}

TEST(Ready, KeepsAVersionOfMoreThan32Bits) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 40;
  Ready ready{10};
  ready.add({{TaskId{1}, kLarge}});
  EXPECT_FALSE(ready.add({{TaskId{1}, 7}}));
  std::vector<DueTask> picked;
  ready.pick(plenty, 10, picked);
  ASSERT_EQ(picked.size(), 1U);
  EXPECT_EQ(picked[0].version, kLarge);
  EXPECT_FALSE(ready.add({{TaskId{1}, kLarge + 1}}));
  EXPECT_EQ(ready.release(picked), 1U);
}

TEST(Ready, TellsHowManyOfAKindAreBeingClaimed) {
  Ready ready{10};
  for (int i = 0; i < 5; ++i) ready.add(due(i, 1));
  std::vector<std::size_t> told;
  const auto two = [&](std::uint32_t, std::size_t coming) {
    told.push_back(coming);
    return std::size_t{2};
  };
  std::vector<DueTask> first, second, third;
  ready.pick(two, 10, first);
  ready.pick(two, 10, second);
  ready.put_back(first);
  ready.release(second);
  ready.pick(two, 10, third);
  EXPECT_EQ(told, (std::vector<std::size_t>{0, 2, 0}));
  EXPECT_EQ(ids(third), ids(first));
}

TEST(Ready, SaysWhenAKindThatOverflowedHasRoomAgain) {
  Ready ready{4};
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ready.add(due(i)));
  EXPECT_FALSE(ready.add(due(4)));
  EXPECT_FALSE(ready.take_reload_wanted());
  std::vector<DueTask> picked;
  ready.pick(plenty, 2, picked);
  EXPECT_TRUE(ready.take_reload_wanted());
  EXPECT_FALSE(ready.take_reload_wanted());
}

}  // namespace
}  // namespace easyretry::engine
