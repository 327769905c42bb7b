#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/measures.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr std::array<std::uint64_t, 3> kBounds{1, 10, 100};

TEST(Histogram, ABoundBelongsToTheBucketBelowIt) {
  Histogram histogram{kBounds};
  for (const std::uint64_t value : {0, 1, 2, 10, 11, 100, 101}) histogram.add(value);
  EXPECT_THAT(histogram.read().counts, ElementsAre(2, 2, 2, 1));
  EXPECT_EQ(histogram.read().sum, 225);
}

TEST(Histogram, ValuesAboveAllBoundsAreCountedToo) {
  Histogram histogram{kBounds};
  histogram.add(1'000'000);
  EXPECT_THAT(histogram.read().counts, ElementsAre(0, 0, 0, 1));
}

TEST(Histogram, ATimeIsAddedInNanosecondsAndANegativeOneAsNone) {
  Histogram histogram{kBounds};
  histogram.add(50ns);
  histogram.add(-5s);
  EXPECT_THAT(histogram.read().counts, ElementsAre(1, 0, 1, 0));
  EXPECT_EQ(histogram.read().sum, 50);
}

TEST(Histogram, ThreadsThatAddAtOnceLoseNothing) {
  constexpr std::uint64_t kEach = 50'000;
  Histogram histogram{kBounds};
  std::vector<std::jthread> threads;
  for (const std::uint64_t value : {1, 10, 100, 1000}) {
    threads.emplace_back([&histogram, value] {
      for (std::uint64_t i = 0; i < kEach; ++i) histogram.add(value);
    });
  }
  threads.clear();
  EXPECT_THAT(histogram.read().counts, ElementsAre(kEach, kEach, kEach, kEach));
  EXPECT_EQ(histogram.read().sum, 1111 * kEach);
}

RC_GTEST_PROP(Histogram, CountsAndSumsWhateverIsAdded, (const std::vector<std::uint16_t>& values)) {
  Histogram histogram{kBounds};
  for (const std::uint64_t value : values) histogram.add(value);
  const auto reading = histogram.read();
  const std::uint64_t none = 0;
  RC_ASSERT(std::accumulate(reading.counts.begin(), reading.counts.end(), none) == values.size());
  RC_ASSERT(reading.sum == std::accumulate(values.begin(), values.end(), none));
}

}  // namespace
}  // namespace easyretry::engine
