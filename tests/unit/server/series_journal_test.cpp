#include "server/series_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/measures.h"

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A series, its journal, and the parts that were saved.
struct SeriesJournalTest : ::testing::Test {
  void add(TimePoint at, const SeriesReadings& readings) {
    for (SeriesGrowth& step : series.add(at, readings)) journal.add(std::move(step));
  }
  int save() {
    int parts = 0;
    journal.save([&](const storage::SeriesPart& part) {
      ++parts;
      saved[part.number] = part;
      return true;
    });
    return parts;
  }
  static std::int64_t slot_of(TimePoint at) { return at.time_since_epoch() / 10s; }
  // The series of a process that starts now.
  std::unique_ptr<Series> restored(TimePoint now) const {
    std::vector<storage::SeriesPart> parts;
    for (const auto& [number, part] : saved) parts.push_back(part);
    auto fresh = std::make_unique<Series>();
    fresh->restore(SeriesJournal::read(parts, slot_of(now - 24h)));
    return fresh;
  }
  static void expect_same(const Series::Shown& got, const Series::Shown& wanted) {
    EXPECT_EQ(got.from, wanted.from);
    ASSERT_EQ(got.points.size(), wanted.points.size());
    for (std::size_t i = 0; i < got.points.size(); ++i) {
      ASSERT_EQ(got.points[i].has_value(), wanted.points[i].has_value()) << i;
      if (!got.points[i]) continue;
      EXPECT_EQ(got.points[i]->stored, wanted.points[i]->stored) << i;
      EXPECT_EQ(got.points[i]->failed_attempts, wanted.points[i]->failed_attempts) << i;
      EXPECT_EQ(got.points[i]->backlog, wanted.points[i]->backlog) << i;
      EXPECT_EQ(got.points[i]->late_p50, wanted.points[i]->late_p50) << i;
      EXPECT_EQ(got.points[i]->late_p99, wanted.points[i]->late_p99) << i;
    }
  }

  const TimePoint noon{std::chrono::sys_days{std::chrono::year{2026} / 3 / 1} + 12h};
  Series series;
  SeriesJournal journal;
  std::map<std::int64_t, storage::SeriesPart> saved;
};

TEST_F(SeriesJournalTest, ASeriesIsTheSameAfterARestart) {
  std::vector<std::uint64_t> late(engine::bounds::kLateness.size() + 1);
  for (int i = 0; i <= 90; ++i) {
    ++late[static_cast<std::size_t>(i) % late.size()];
    add(noon + i * 10s, {{"mail", {.stored = i * i, .failed_attempts = i / 3, .backlog = i % 7, .late = late}},
                         {"pay", {.stored = i / 2, .backlog = 1}}});
    if (i % 6 == 0) save();
  }
  save();
  const TimePoint now = noon + 901s;
  const auto fresh = restored(now);
  for (const char* handler : {"", "mail", "pay"}) {
    for (const SeriesStep step : {SeriesStep::ten_seconds, SeriesStep::minute}) {
      expect_same(fresh->read(step, handler, now), series.read(step, handler, now));
    }
  }
}

TEST_F(SeriesJournalTest, NewStepsAreAddedAfterARestartAndTheGapIsUnknown) {
  for (int i = 0; i <= 6; ++i) add(noon + i * 10s, {{"mail", {.stored = 100 + i, .backlog = 5}}});
  save();
  const auto fresh = restored(noon + 90s);
  fresh->add(noon + 90s, {{"mail", {.stored = 200}}, {"new", {.stored = 50}}});
  fresh->add(noon + 100s, {{"mail", {.stored = 203}}, {"new", {.stored = 51}}});
  const auto shown = fresh->read(SeriesStep::ten_seconds, "", noon + 101s);
  EXPECT_EQ(shown.from, noon);
  ASSERT_THAT(shown.points, SizeIs(10));
  EXPECT_EQ(shown.points[5]->stored, 1);
  for (int i = 6; i < 9; ++i) EXPECT_FALSE(shown.points[static_cast<std::size_t>(i)]) << i;
  EXPECT_EQ(shown.points[9]->stored, 4) << "and not what other instances have stored meanwhile";
}

TEST_F(SeriesJournalTest, APartGoesOnGrowingAfterARestart) {
  for (int i = 0; i <= 6; ++i) add(noon + i * 10s, {{"mail", {.stored = i}}});
  save();
  std::vector<storage::SeriesPart> before;
  for (const auto& [number, part] : saved) before.push_back(part);
  journal = SeriesJournal{};
  journal.resume(SeriesJournal::read(before, slot_of(noon)));
  EXPECT_EQ(save(), 0) << "nothing has happened since";
  const auto second = restored(noon + 90s);
  for (const TimePoint at : {noon + 90s, noon + 100s}) {
    for (SeriesGrowth& step : second->add(at, {{"mail", {.stored = at.time_since_epoch() / 10s}}})) {
      journal.add(std::move(step));
    }
  }
  EXPECT_EQ(save(), 1);
  ASSERT_THAT(saved, SizeIs(1)) << "all of it is in one part";
  const auto shown = restored(noon + 101s)->read(SeriesStep::ten_seconds, "mail", noon + 101s);
  ASSERT_THAT(shown.points, SizeIs(10));
  EXPECT_EQ(shown.points[0]->stored, 1);
  EXPECT_EQ(shown.points[5]->stored, 1);
  EXPECT_FALSE(shown.points[7]);
  EXPECT_EQ(shown.points[9]->stored, 1);
}

TEST_F(SeriesJournalTest, NothingIsSavedWhereNothingHappensAndTheQuietIsKnownAllTheSame) {
  add(noon, {{"mail", {.stored = 1, .backlog = 1}}});
  add(noon + 10s, {{"mail", {.stored = 2, .backlog = 2}}});
  EXPECT_EQ(save(), 1);
  for (int i = 2; i < 200; ++i) {
    add(noon + i * 10s, {{"mail", {.stored = 2, .backlog = 2}}});
    EXPECT_EQ(save(), 0) << i;
  }
  add(noon + 2000s, {{"mail", {.stored = 3, .backlog = 3}}});
  EXPECT_EQ(save(), 1);
  const TimePoint now = noon + 2001s;
  expect_same(restored(now)->read(SeriesStep::ten_seconds, "mail", now),
              series.read(SeriesStep::ten_seconds, "mail", now));
}

TEST_F(SeriesJournalTest, APartThatCouldNotBeSavedIsSavedLater) {
  add(noon, {});
  add(noon + 10s, {{"mail", {.stored = 2}}});
  journal.save([](const storage::SeriesPart&) { return false; });
  add(noon + 600s, {{"mail", {.stored = 2}}});
  EXPECT_EQ(save(), 1);
  EXPECT_EQ(save(), 0);
}

TEST_F(SeriesJournalTest, ADayIsKeptInABoundedNumberOfParts) {
  for (int i = 0; i <= 3 * 24 * 360; ++i) {
    add(noon + i * 10s, {{"mail", {.stored = i}}});
    if (i % 6 == 0) save();
  }
  save();
  EXPECT_LE(saved.size(), 24U * 12 + 1);
  const TimePoint now = noon + 3 * 24h + 1s;
  const auto shown = restored(now)->read(SeriesStep::minute, "mail", now);
  ASSERT_THAT(shown.points, SizeIs(1440));
  for (const auto& point : shown.points) EXPECT_EQ(point->stored, 6);
}

TEST_F(SeriesJournalTest, CorruptedPartsAreLeftOut) {
  add(noon, {});
  add(noon + 10s, {{"mail", {.stored = 2}}});
  save();
  const storage::SeriesPart good = saved.begin()->second;
  for (const char* text :
       {"", "{", "[]", R"({"from":5,"until":2,"lines":[]})", R"({"from":0,"until":99999999999,"lines":[]})",
        R"({"from":1,"until":2,"lines":[{"handler":"a","steps":[[1],[1,2,3,4,5,6,7],[2,0,0,0,0,0,-1,5]]}]})"}) {
    EXPECT_THAT(SeriesJournal::read(std::vector{storage::SeriesPart{0, text}, good}, slot_of(noon)), SizeIs(1)) << text;
  }
  EXPECT_THAT(SeriesJournal::read({}, 0), IsEmpty());
}

}  // namespace
}  // namespace easyretry::server
