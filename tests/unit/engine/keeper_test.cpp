#include "engine/keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

#include "storage/sqlite/sqlite_store.h"
#include "support/endings.h"
#include "support/task_builder.h"
#include "support/temp_folder.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using StepKind = storage::KeepStep::Kind;

// Has this many calls' worth of housekeeping to do, and nothing else.
class DustyStore final : public storage::Store {
 public:
  explicit DustyStore(int calls) : left_(calls) {}
  Result<storage::KeepReport> keep() override {
    --left_;
    return storage::KeepReport{.steps = steps, .more = left_ > 0};
  }
  Result<bool> fold_counts() override {
    ++folds;
    return folds % 3 != 0;
  }
  Result<bool> expire(std::span<const storage::Retention> rules) override {
    expired.emplace_back(rules.begin(), rules.end());
    return expired.size() < 2;
  }
  storage::StoreInfo info() const override {
    storage::StoreInfo info;
    info.folds = has_sums;
    return info;
  }

  std::vector<storage::KeepStep> steps{};
  bool has_sums = false;
  int folds = 0;
  std::vector<std::vector<storage::Retention>> expired{};  // by each call

  storage::InsertResult insert(std::span<const task::NewTask>) override { return {}; }
  Result<storage::LoadReply> load(const storage::LoadQuery&) override { return {}; }
  Result<storage::ClaimReply> claim(const storage::ClaimRequest&) override { return {}; }
  Result<storage::Applied> settle(std::span<const task::Settlement>) override { return {}; }
  Result<storage::Applied> renew(std::span<const storage::Renewal>) override { return {}; }
  Result<std::vector<task::TaskRecord>> find(std::span<const TaskId>) override { return {}; }
  Result<std::vector<task::TaskRecord>> list(const storage::TaskQuery&) override { return {}; }
  Result<std::int64_t> count(const storage::TaskQuery&) override { return 0; }
  Result<Counts> counts(std::string_view) override { return {}; }
  Result<storage::Applied> revise(std::span<const storage::Revision>) override { return {}; }
  Result<storage::Applied> end(std::span<const task::Ending>) override { return {}; }
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId>, std::optional<TaskClass>) override {
    return {};
  }
  Result<std::optional<TaskId>> requeue_with(TaskId, std::string_view, std::optional<TaskClass>) override {
    return std::nullopt;
  }
  Result<bool> pause(std::string_view, std::string_view, std::string_view) override { return false; }
  Result<bool> resume(std::string_view, std::string_view) override { return false; }
  Result<storage::PausedReply> paused(std::string_view) override { return {}; }

 private:
  int left_;
};

TEST(Keeper, ContinuesAtOnceWhileWorkIsLeftAndThenRests) {
  testing::ManualClock clock;
  DustyStore store{2};
  Context context{store, clock, {}, "owner", 1};
  Keeper keeper{context};
  EXPECT_EQ(keeper.step().wake, Instant::min());
  EXPECT_GE(keeper.step().wake, clock.steady() + 1min);
}

TEST(Keeper, AddsUpEveryFewSecondsAndAtOnceWhereThereIsMore) {
  testing::ManualClock clock;
  DustyStore store{1};
  store.has_sums = true;
  Context context{store, clock, {}, "owner", 1};
  Keeper keeper{context};
  EXPECT_EQ(keeper.step().wake, Instant::min());
  EXPECT_EQ(keeper.step().wake, Instant::min());
  EXPECT_EQ(keeper.step().wake, clock.steady() + 5s);
  Counters::add(context.counters.stored);
  keeper.step();
  EXPECT_EQ(store.folds, 3) << "not before its time";
  clock.advance(5s);
  keeper.step();
  EXPECT_EQ(store.folds, 4);
}

TEST(Keeper, AddsUpTheSumsOfOthersOnceAMinuteWhenIdle) {
  testing::ManualClock clock;
  DustyStore store{1};
  store.has_sums = true;
  Context context{store, clock, {}, "owner", 1};
  Keeper keeper{context};
  while (keeper.step().wake == Instant::min()) {
  }
  store.folds = 0;
  for (int i = 0; i < 11; ++i) {
    clock.advance(5s);
    EXPECT_EQ(keeper.step().wake, clock.steady() + 5s);
  }
  EXPECT_EQ(store.folds, 0);
  clock.advance(5s);
  keeper.step();
  EXPECT_EQ(store.folds, 1);
}

TEST(Keeper, LeavesAStoreAloneThatHasNothingToAddUp) {
  testing::ManualClock clock;
  DustyStore store{1};
  Context context{store, clock, {}, "owner", 1};
  EXPECT_GT(Keeper{context}.step().wake, clock.steady() + 1min);
  EXPECT_EQ(store.folds, 0);
}

class KeeperRules : public ::testing::Test {
 protected:
  void add(const std::string& handler, const HandlerOptions& options) {
    context.handlers.add(detail::Handler{handler, {}, options});
  }
  // Steps for some time. Returns how often the store was asked to remove what the rules do not keep.
  std::size_t sweeps_within(Millis time) {
    const std::size_t before = store.expired.size();
    for (const Instant end = clock.steady() + time; clock.steady() < end; clock.advance(10s)) {
      while (keeper.step().wake == Instant::min()) {
      }
    }
    return store.expired.size() - before;
  }

  testing::ManualClock clock;
  DustyStore store{1};
  Context context{store, clock, {}, "owner", 1};
  Keeper keeper{context};
};

TEST_F(KeeperRules, OfTheHandlersGoToTheStore) {
  add("pay", {.keep = 24h * 7, .keep_args = 24h});
  add("mail", {});
  add("ping", {.keep = 0ms});
  sweeps_within(10s);
  ASSERT_EQ(store.expired.size(), 2U) << "again at once, because there was more";
  EXPECT_THAT(store.expired[1], ElementsAre(storage::Retention{"default", "pay", 24h * 7, 24h},
                                            storage::Retention{"default", "ping", 0ms}));
}

TEST_F(KeeperRules, AreAppliedTenTimesInTheShortestTimeButNotMoreThanOnceAMinuteOrLessThanOnceAnHour) {
  add("pay", {.keep = 24h * 7});
  sweeps_within(10s);
  EXPECT_EQ(sweeps_within(24h), 24U);
  add("mail", {.keep_args = 100min});
  sweeps_within(1min);
  EXPECT_EQ(sweeps_within(24h), 144U);
  add("ping", {.keep = 0ms});
  sweeps_within(1min);
  EXPECT_EQ(sweeps_within(1h), 60U);
}

TEST_F(KeeperRules, AreSeenWithinMinutesIfTheyAreNew) {
  EXPECT_EQ(sweeps_within(24h), 0U) << "a store without rules is left alone";
  add("pay", {.keep = 24h * 7});
  EXPECT_GE(sweeps_within(5min), 1U);
}

// The events that a listener gets, as text.
class KeeperEvents : public ::testing::Test {
 protected:
  void hear(Context& context) {
    context.events.add(
        [this](const Event& event) {
          EXPECT_EQ(event.task.id, TaskId{});
          heard.push_back(std::string{to_string(event.kind)} + " " + event.table +
                          (event.message.empty() ? "" : ": " + event.message));
        },
        Delivery::direct);
  }
  testing::ManualClock clock;
  std::vector<std::string> heard;
};

TEST_F(KeeperEvents, NameTheChangeAndItsTable) {
  DustyStore store{1};
  store.steps = {
      {StepKind::made, "a"}, {StepKind::emptied, "b", 3}, {StepKind::dropped, "b"}, {StepKind::history_dropped, "c"}};
  std::vector<std::string> logged;
  EngineOptions options;
  options.log = [&](LogLevel, std::string_view line) { logged.emplace_back(line); };
  Context context{store, clock, options, "owner", 1};
  hear(context);
  Keeper{context}.step();
  EXPECT_THAT(heard, ElementsAre("table made a", "table emptied b: 3 unfinished tasks moved to another table",
                                 "table dropped b", "history dropped c"));
  EXPECT_EQ(logged, heard);
}

TEST_F(KeeperEvents, TellOfAMonthThatSqliteDrops) {
  const test::TempFolder folder;
  const auto store = storage::open_sqlite({.path = folder.path() / "retry.db"}, clock);
  const task::NewTask task = test::a_task();
  const TaskId id = store->insert({&task, 1}).value().tasks.at(0).id;
  ASSERT_TRUE(store->end(test::endings({&id, 1})));
  Context context{*store, clock, {}, "owner", 1};
  hear(context);
  Keeper{context}.step();
  EXPECT_THAT(heard, IsEmpty());
  clock.advance(std::chrono::days{150});
  Keeper{context}.step();
  EXPECT_THAT(heard, ElementsAre("history dropped retry_task_history_202501"));
}

}  // namespace
}  // namespace easyretry::engine
