#include "engine/id_set.h"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace easyretry::engine {
namespace {

TEST(IdSet, HoldsAnIdOnce) {
  IdSet ids;
  EXPECT_TRUE(ids.insert(TaskId{7}));
  EXPECT_FALSE(ids.insert(TaskId{7}));
  EXPECT_TRUE(ids.contains(TaskId{7}));
  ids.erase(TaskId{7});
  EXPECT_FALSE(ids.contains(TaskId{7}));
  EXPECT_EQ(ids.size(), 0U);
}

// Few enough different ids that they meet, collide and leave holes in each other's way.
RC_GTEST_PROP(IdSet, IsASetWhateverComesAndGoes, ()) {
  IdSet ids;
  std::set<std::int64_t> model;
  for (const auto& [insert, number] : *rc::gen::container<std::vector<std::pair<bool, std::int64_t>>>(
           2000, rc::gen::pair(rc::gen::arbitrary<bool>(), rc::gen::inRange<std::int64_t>(0, 300)))) {
    const TaskId id{number};
    if (insert) {
      RC_ASSERT(ids.insert(id) == model.insert(number).second);
    } else {
      ids.erase(id);
      model.erase(number);
    }
    RC_ASSERT(ids.size() == model.size());
  }
  for (std::int64_t number = 0; number < 300; ++number) {
    RC_ASSERT(ids.contains(TaskId{number}) == model.contains(number));
  }
}

}  // namespace
}  // namespace easyretry::engine
