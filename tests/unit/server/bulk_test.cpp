#include "server/bulk.h"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/refusal.h"
#include "support/eventually.h"

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

struct BulkTest : ::testing::Test {
  // Tasks 1 to `count`, in pages.
  Result<Bulk::Page> list(const TaskQuery& query) {
    if (away.load() > 0) {
      --away;
      return tl::make_unexpected(Error{Errc::unavailable, "list", "away"});
    }
    Bulk::Page page;
    std::size_t read = 0;
    for (auto id = static_cast<std::int64_t>(query.after) + 1; id <= count; ++id) {
      if (id > none_until) page.ids.push_back(static_cast<TaskId>(id));
      page.next = static_cast<TaskId>(id);
      if (++read == query.limit) return page;
    }
    page.next.reset();
    return page;
  }
  Result<std::vector<bool>> change(std::span<const TaskId> ids) {
    std::vector<bool> done;
    for (const TaskId id : ids) {
      changed.push_back(static_cast<std::int64_t>(id));
      done.push_back(static_cast<std::int64_t>(id) != 3);
    }
    return done;
  }
  Bulk::Job begin() {
    return begin_with([this](std::span<const TaskId> ids) { return change(ids); });
  }
  Bulk::Job begin_with(Bulk::Change how) {
    return bulk.begin({.action = "cancel", .matched = count, .change = std::move(how)});
  }
  Bulk::Job ended(const std::string& id) {
    EXPECT_TRUE(test::eventually([&] { return bulk.find(id)->ended_at.has_value(); }));
    return *bulk.find(id);
  }

  std::int64_t count = 5;
  std::int64_t none_until = 0;  // the tasks up to this one do not match
  std::atomic<int> away{0};
  std::vector<std::int64_t> changed;  // by the thread of `bulk`, read when a job has ended
  Bulk bulk{system_clock(),
            [this](const TaskQuery& query) { return list(query); },
            {.waiting = 2, .kept = 3, .page = 2, .patience = 500ms, .pause = 1ms}};
};

TEST_F(BulkTest, ChangesEachTaskOncePageByPage) {
  const Bulk::Job job = ended(begin().id);
  EXPECT_EQ(job.state, Bulk::State::done);
  EXPECT_EQ(job.changed, 4);
  EXPECT_EQ(job.skipped, 1);
  EXPECT_THAT(changed, ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(BulkTest, AskAgainWhereTheStoreIsAwayForAMoment) {
  away = 3;
  EXPECT_EQ(ended(begin().id).state, Bulk::State::done);
  EXPECT_THAT(changed, SizeIs(5));
}

TEST_F(BulkTest, FailsWhereTheStoreStaysAwayAndSaysWhy) {
  away = 1'000'000'000;
  const Bulk::Job job = ended(begin().id);
  EXPECT_EQ(job.state, Bulk::State::failed);
  EXPECT_THAT(job.error, HasSubstr("away"));
}

TEST_F(BulkTest, IsForNoMoreTasksThanWereFoundWhenItWasAskedFor) {
  const auto how = [this](std::span<const TaskId> ids) { return change(ids); };
  const std::string id = bulk.begin({.action = "cancel", .matched = 3, .change = how}).id;
  EXPECT_EQ(ended(id).state, Bulk::State::done);
  EXPECT_THAT(changed, ElementsAre(1, 2, 3));
}

TEST_F(BulkTest, FailsAtOnceWhereAskingAgainWouldChangeNothing) {
  int asked = 0;
  const auto refused = [&](std::span<const TaskId>) -> Result<std::vector<bool>> {
    ++asked;
    return fail(Errc::invalid_argument, "cancel", "that cannot be");
  };
  EXPECT_EQ(ended(begin_with(refused).id).state, Bulk::State::failed);
  EXPECT_EQ(asked, 1);
}

TEST_F(BulkTest, IsStoppedBetweenTwoPagesAndTheNextOneIsRun) {
  std::atomic<bool> begun{false};
  std::atomic<bool> go_on{false};
  const auto held_up = [&](std::span<const TaskId> ids) -> Result<std::vector<bool>> {
    begun = true;
    EXPECT_TRUE(test::eventually([&] { return go_on.load(); }));
    return std::vector<bool>(ids.size(), true);
  };
  const std::string first = begin_with(held_up).id;
  const std::string second = begin().id;
  EXPECT_THROW(begin(), Refusal) << "two have not ended";
  ASSERT_TRUE(test::eventually([&] { return begun.load(); }));
  EXPECT_EQ(bulk.stop(first)->state, Bulk::State::running);
  go_on = true;
  EXPECT_EQ(ended(first).state, Bulk::State::stopped);
  EXPECT_EQ(bulk.find(first)->changed, 2);
  EXPECT_EQ(ended(second).state, Bulk::State::done);
}

TEST_F(BulkTest, GoesOnAfterPagesOnWhichNothingMatches) {
  none_until = 4;
  const Bulk::Job job = ended(begin().id);
  EXPECT_EQ(job.state, Bulk::State::done);
  EXPECT_THAT(changed, ElementsAre(5));
}

TEST_F(BulkTest, WhereNotAllWereFoundAtTheStartItChangesAsManyAsItMay) {
  const auto how = [this](std::span<const TaskId> ids) { return change(ids); };
  const auto begin_after_finding_one = [&](std::int64_t most) {
    return bulk.begin({.action = "cancel", .matched = 1, .complete = false, .most = most, .change = how}).id;
  };
  const Bulk::Job enough = ended(begin_after_finding_one(5));
  EXPECT_EQ(enough.state, Bulk::State::done);
  EXPECT_EQ(enough.matched, 5);
  EXPECT_THAT(changed, ElementsAre(1, 2, 3, 4, 5));
  changed.clear();
  const Bulk::Job too_many = ended(begin_after_finding_one(3));
  EXPECT_EQ(too_many.state, Bulk::State::failed);
  EXPECT_THAT(too_many.error, HasSubstr("more than 3 tasks match"));
  EXPECT_THAT(changed, ElementsAre(1, 2, 3));
}

// 5 tasks at 10 a second: one at a time, and the last not before four tenths of a second are over.
TEST_F(BulkTest, IsNotFasterThanItsPace) {
  std::vector<Instant> times;
  const auto timed = [&](std::span<const TaskId> ids) {
    times.push_back(system_clock().steady());
    return change(ids);
  };
  const Bulk::Job job = ended(bulk.begin({.action = "cancel", .matched = count, .per_second = 10, .change = timed}).id);
  EXPECT_EQ(job.state, Bulk::State::done);
  EXPECT_EQ(job.per_second, 10);
  ASSERT_THAT(times, SizeIs(5));
  for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GE(times[i] - times[i - 1], 100ms);
}

TEST_F(BulkTest, AJobThatWaitsForItsNextTaskIsStoppedAtOnce) {
  count = 1'000'000;
  const auto how = [this](std::span<const TaskId> ids) { return change(ids); };
  const std::string id = bulk.begin({.action = "cancel", .matched = count, .per_second = 1, .change = how}).id;
  ASSERT_TRUE(test::eventually([&] { return bulk.find(id)->changed == 1; }));
  bulk.stop(id);
  EXPECT_EQ(ended(id).state, Bulk::State::stopped);
}

TEST_F(BulkTest, KeepsTheLatestAndKnowsNoOthers) {
  std::string first = begin().id;
  ended(first);
  for (int i = 0; i < 3; ++i) ended(begin().id);
  EXPECT_THAT(bulk.all(), SizeIs(3));
  EXPECT_EQ(bulk.find(first), std::nullopt);
  EXPECT_EQ(bulk.stop("nonsense"), std::nullopt);
}

TEST_F(BulkTest, BreaksOffWhatRunsWhenItIsClosed) {
  count = 1'000'000'000;
  const std::string id = begin().id;
  bulk.close();
  EXPECT_EQ(bulk.find(id)->state, Bulk::State::stopped);
  EXPECT_THROW(begin(), Refusal);
}

}  // namespace
}  // namespace easyretry::server
