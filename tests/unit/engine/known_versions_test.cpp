#include "engine/known_versions.h"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace easyretry::engine {
namespace {

TEST(KnownVersions, HoldsAnIdOnceWithItsNewestVersion) {
  KnownVersions known;
  EXPECT_TRUE(known.insert(TaskId{7}, 2));
  EXPECT_FALSE(known.insert(TaskId{7}, 3));
  EXPECT_FALSE(known.insert(TaskId{7}, 1));
  EXPECT_TRUE(known.contains(TaskId{7}));
  EXPECT_EQ(known.newest(TaskId{7}), 3U);
  known.erase(TaskId{7});
  EXPECT_FALSE(known.contains(TaskId{7}));
  EXPECT_EQ(known.size(), 0U);
}

// Few enough different ids that they meet, collide and leave holes in each other's way.
RC_GTEST_PROP(KnownVersions, IsAMapWhateverComesAndGoes, ()) {
  KnownVersions known;
  std::map<std::int64_t, std::uint32_t> model;
  for (const auto& [version, number] : *rc::gen::container<std::vector<std::pair<std::uint32_t, std::int64_t>>>(
           2000, rc::gen::pair(rc::gen::inRange<std::uint32_t>(0, 6), rc::gen::inRange<std::int64_t>(0, 300)))) {
    const TaskId id{number};
    if (version > 2) {
      const auto [there, fresh] = model.try_emplace(number, version);
      RC_ASSERT(known.insert(id, version) == fresh);
      there->second = std::max(there->second, version);
    } else {
      known.erase(id);
      model.erase(number);
    }
    RC_ASSERT(known.size() == model.size());
  }
  for (std::int64_t number = 0; number < 300; ++number) {
    const auto there = model.find(number);
    RC_ASSERT(known.contains(TaskId{number}) == (there != model.end()));
    if (there != model.end()) RC_ASSERT(known.newest(TaskId{number}) == there->second);
  }
}

}  // namespace
}  // namespace easyretry::engine
