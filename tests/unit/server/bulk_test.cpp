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
  Result<std::vector<TaskId>> list(const TaskQuery& query) {
    if (away.load() > 0) {
      --away;
      return tl::make_unexpected(Error{Errc::unavailable, "list", "away"});
    }
    std::vector<TaskId> page;
    for (auto id = static_cast<std::int64_t>(query.after) + 1; id <= count && page.size() < query.limit; ++id) {
      page.push_back(static_cast<TaskId>(id));
    }
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
    return bulk.begin("cancel", {}, count, [this](std::span<const TaskId> ids) { return change(ids); });
  }
  Bulk::Job ended(const std::string& id) {
    EXPECT_TRUE(test::eventually([&] { return bulk.find(id)->ended_at.has_value(); }));
    return *bulk.find(id);
  }

  std::int64_t count = 5;
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
  const std::string id = bulk.begin("cancel", {}, 3, [this](std::span<const TaskId> ids) { return change(ids); }).id;
  EXPECT_EQ(ended(id).state, Bulk::State::done);
  EXPECT_THAT(changed, ElementsAre(1, 2, 3));
}

TEST_F(BulkTest, FailsAtOnceWhereAskingAgainWouldChangeNothing) {
  int asked = 0;
  const auto refused = [&](std::span<const TaskId>) -> Result<std::vector<bool>> {
    ++asked;
    return fail(Errc::invalid_argument, "cancel", "that cannot be");
  };
  EXPECT_EQ(ended(bulk.begin("cancel", {}, count, refused).id).state, Bulk::State::failed);
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
  const std::string first = bulk.begin("cancel", {}, count, held_up).id;
  const std::string second = begin().id;
  EXPECT_THROW(begin(), Refusal) << "two have not ended";
  ASSERT_TRUE(test::eventually([&] { return begun.load(); }));
  EXPECT_EQ(bulk.stop(first)->state, Bulk::State::running);
  go_on = true;
  EXPECT_EQ(ended(first).state, Bulk::State::stopped);
  EXPECT_EQ(bulk.find(first)->changed, 2);
  EXPECT_EQ(ended(second).state, Bulk::State::done);
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
