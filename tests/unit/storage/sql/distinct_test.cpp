#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/sql/batch_changes.h"

namespace easyretry::storage::sql {
namespace {

using ::testing::ElementsAre;

std::vector<std::vector<int>> parts(const std::vector<int>& batch) {
  std::vector<std::vector<int>> all;
  for_distinct(
      std::span<const int>{batch}, [](int id) { return TaskId{id}; },
      [&](std::span<const int> part) { all.emplace_back(part.begin(), part.end()); });
  return all;
}

TEST(ForDistinct, ABatchThatNamesEachTaskOnceIsOnePart) {
  EXPECT_THAT(parts({3, 1, 2}), ElementsAre(ElementsAre(3, 1, 2)));
  EXPECT_THAT(parts({}), ElementsAre());
}

TEST(ForDistinct, ATaskNamedAgainBeginsTheNextPartAndTheOrderStays) {
  EXPECT_THAT(parts({1, 2, 1, 1, 3, 2}), ElementsAre(ElementsAre(1, 2), ElementsAre(1), ElementsAre(1, 3, 2)));
}

}  // namespace
}  // namespace easyretry::storage::sql
