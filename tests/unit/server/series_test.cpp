#include "server/series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/measures.h"

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct SeriesTest : ::testing::Test {
  void add(TimePoint at, const SeriesReadings& readings) { series.add(at, readings); }
  auto read(TimePoint now, const std::string& handler = {}, SeriesStep step = SeriesStep::ten_seconds) const {
    return series.read(step, handler, now);
  }
  // A number of attempts that were at most 10 ms, and of others that were more than an hour late.
  static std::vector<std::uint64_t> late(std::uint64_t little, std::uint64_t much) {
    std::vector<std::uint64_t> counts(engine::bounds::kLateness.size() + 1);
    counts[3] = little;
    counts.back() = much;
    return counts;
  }

  const TimePoint noon{std::chrono::sys_days{std::chrono::year{2026} / 3 / 1} + 12h};
  Series series;
};

TEST_F(SeriesTest, AStepHasTheEventsOfItsTime) {
  add(noon, {{"mail", {.stored = 100, .succeeded = 50}}});
  add(noon + 10s, {{"mail", {.stored = 107, .succeeded = 52, .failed_attempts = 3, .ended_badly = 1, .backlog = 54}}});
  add(noon + 20s, {{"mail", {.stored = 107, .succeeded = 60, .failed_attempts = 3, .ended_badly = 1, .backlog = 46}}});
  const auto shown = read(noon + 21s);
  EXPECT_EQ(shown.from, noon) << "what was before is not known";
  ASSERT_THAT(shown.points, SizeIs(2));
  EXPECT_EQ(shown.points[0]->stored, 7);
  EXPECT_EQ(shown.points[0]->failed_attempts, 3);
  EXPECT_EQ(shown.points[0]->ended_badly, 1);
  EXPECT_EQ(shown.points[0]->backlog, 54);
  EXPECT_EQ(shown.points[1]->stored, 0);
  EXPECT_EQ(shown.points[1]->succeeded, 8);
}

TEST_F(SeriesTest, MinutesAreSumsWithTheBacklogAtTheEnd) {
  for (int i = 0; i <= 12; ++i) add(noon + i * 10s, {{"mail", {.stored = i, .backlog = i}}});
  const auto shown = read(noon + 121s, "", SeriesStep::minute);
  ASSERT_THAT(shown.points, SizeIs(2));
  EXPECT_EQ(shown.points[0]->stored, 6);
  EXPECT_EQ(shown.points[0]->backlog, 6);
  EXPECT_EQ(shown.points[1]->backlog, 12);
}

TEST_F(SeriesTest, LatenessIsOfTheStepAlone) {
  add(noon, {{"mail", {.late = late(1000, 1000)}}});
  add(noon + 10s, {{"mail", {.late = late(1099, 1001)}}});
  add(noon + 20s, {{"mail", {.late = late(1099, 1001)}}});
  add(noon + 30s, {{"mail", {.late = late(1099, 1002)}}});
  const auto shown = read(noon + 31s);
  EXPECT_EQ(shown.points[0]->late_p50, 10ms);
  EXPECT_EQ(shown.points[0]->late_p99, 10ms);
  EXPECT_EQ(shown.points[1]->late_p50, std::nullopt) << "nothing began";
  EXPECT_EQ(shown.points[2]->late_p50, 1h) << "an hour, or more";
}

TEST_F(SeriesTest, AReadingShortlyAfterTheEndOfAStepIsOfThatStep) {
  add(noon + 3s, {});
  add(noon + 10s + 5ms, {{"mail", {.stored = 4}}});
  add(noon + 20s + 40ms, {{"mail", {.stored = 5}}});
  EXPECT_THAT(read(noon + 30s).points, SizeIs(2)) << "the third is being read";
  EXPECT_EQ(read(noon + 30s).points[0]->stored, 4);
  EXPECT_EQ(read(noon + 30s).points[1]->stored, 1);
}

TEST_F(SeriesTest, AStepInWhichTheStoreDidNotAnswerIsUnknown) {
  add(noon, {});
  series.lost();
  add(noon + 30s, {{"mail", {.stored = 4}}});
  const auto shown = read(noon + 31s);
  ASSERT_THAT(shown.points, SizeIs(3));
  EXPECT_FALSE(shown.points[0]);
  EXPECT_FALSE(shown.points[1]);
  EXPECT_EQ(shown.points[2]->stored, 4);
}

TEST_F(SeriesTest, TheLastTenMinutesAreSumsOfWhatWasMeasured) {
  add(noon, {{"mail", {.stored = 100}}});
  EXPECT_THAT(series.recent(noon + 1s), IsEmpty()) << "one reading has no growth";
  add(noon + 10s, {{"mail", {.stored = 107, .succeeded = 5}}});
  series.lost();
  add(noon + 40s, {{"mail", {.stored = 108, .succeeded = 6, .ended_badly = 2}}, {"pay", {.stored = 3}}});
  const auto recent = series.recent(noon + 41s);
  ASSERT_THAT(recent, SizeIs(2));
  EXPECT_EQ(recent.at("mail").measured, 20s);
  EXPECT_EQ(recent.at("mail").stored, 8);
  EXPECT_EQ(recent.at("mail").succeeded, 6);
  EXPECT_EQ(recent.at("mail").ended_badly, 2);
  EXPECT_EQ(recent.at("pay").stored, 3);
  EXPECT_EQ(series.recent(noon + 10min + 10s).at("mail").stored, 1) << "the first step is ten minutes old";
  EXPECT_THAT(series.recent(noon + 11min), IsEmpty());
}

TEST_F(SeriesTest, AReadingThatTookLongIsSpreadOverTheStepsThatHaveEnded) {
  add(noon, {{"mail", {.stored = 10, .backlog = 2, .late = late(5, 0)}}});
  add(noon + 40s + 300ms, {{"mail", {.stored = 20, .backlog = 10, .late = late(9, 0)}}});
  const auto shown = read(noon + 41s, "mail");
  ASSERT_THAT(shown.points, SizeIs(4));
  std::int64_t stored = 0;
  for (const auto& point : shown.points) {
    ASSERT_TRUE(point);
    stored += point->stored;
    EXPECT_EQ(point->late_p99, 10ms);
  }
  EXPECT_EQ(stored, 10);
  EXPECT_EQ(shown.points[0]->stored, 2);
  EXPECT_EQ(shown.points[0]->backlog, 4);
  EXPECT_EQ(shown.points[3]->backlog, 10);
}

TEST_F(SeriesTest, AHandlerThatAppearsBeganWithNothing) {
  add(noon, {{"mail", {.stored = 5}}});
  add(noon + 10s, {{"mail", {.stored = 6}}, {"pay", {.stored = 3}}});
  EXPECT_EQ(read(noon + 11s, "mail").points[0]->stored, 1);
  EXPECT_EQ(read(noon + 11s, "pay").points[0]->stored, 3);
  EXPECT_EQ(read(noon + 11s).points[0]->stored, 4);
  EXPECT_THAT(read(noon + 11s, "none").points, IsEmpty());
}

TEST_F(SeriesTest, HandlersBeyondTheBoundAreOnlyInTheSum) {
  SeriesReadings many;
  for (std::size_t i = 0; i <= Series::kMostHandlers; ++i) many["h" + std::to_string(i)].stored = static_cast<int>(i);
  add(noon, many);
  for (auto& [handler, reading] : many) ++reading.stored;
  add(noon + 10s, many);
  EXPECT_THAT(read(noon + 11s, "h0").points, IsEmpty()) << "the one with the fewest tasks";
  EXPECT_EQ(read(noon + 11s, "h1").points[0]->stored, 1);
  EXPECT_EQ(read(noon + 11s).points[0]->stored, static_cast<std::int64_t>(Series::kMostHandlers) + 1);
}

TEST_F(SeriesTest, AnHourIsKeptAndOlderStepsAreOverwritten) {
  for (int i = 0; i <= 400; ++i) add(noon + i * 10s, {{"mail", {.stored = i * i}}});
  const auto shown = read(noon + 4000s);
  ASSERT_THAT(shown.points, SizeIs(360));
  EXPECT_EQ(shown.from, noon + 400s);
  EXPECT_EQ(shown.points[0]->stored, 41 * 41 - 40 * 40);
  EXPECT_EQ(shown.points[359]->stored, 400 * 400 - 399 * 399);
}

TEST_F(SeriesTest, CountsThatBeginAnewAreNotNegative) {
  add(noon, {{"mail", {.stored = 100, .late = late(5, 0)}}});
  add(noon + 10s, {{"mail", {.stored = 2, .late = late(1, 0)}}});
  EXPECT_EQ(read(noon + 11s).points[0]->stored, 0);
  EXPECT_EQ(read(noon + 11s).points[0]->late_p50, std::nullopt);
}

TEST_F(SeriesTest, NothingIsKnownBeforeTheFirstReading) {
  EXPECT_THAT(read(noon).points, IsEmpty());
  add(noon, {{"mail", {.stored = 100}}});
  EXPECT_THAT(read(noon + 1s).points, IsEmpty());
}

}  // namespace
}  // namespace easyretry::server
