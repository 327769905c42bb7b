// When the store is read, by an instance that stores nothing itself.

#include "engine/loader.h"

#include <gtest/gtest.h>

#include "unit/engine/forwarding_store.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

// Remembers how much was asked of it at once.
class WatchedStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<storage::LoadReply> load(const storage::LoadQuery& query) override {
    largest_page = std::max(largest_page, query.limit);
    return ForwardingStore::load(query);
  }
  Result<storage::ClaimReply> claim(const storage::ClaimRequest& request) override {
    largest_claim = std::max(largest_claim, request.tickets.size());
    return ForwardingStore::claim(request);
  }

  std::size_t largest_page = 0;
  std::size_t largest_claim = 0;
};

struct LoaderTest : ::testing::Test {
  LoaderTest() {
    reader.handle("pay", [] {});
    other.handle("pay", [] {});
    read();
  }

  // Until it has nothing more to do; when it wants to look again.
  Instant read() {
    Step step = reader.core.loader().step();
    while (step.worked) step = reader.core.loader().step();
    return step.wake;
  }
  std::size_t seen() { return reader.core.schedule().held(); }

  SharedStore shared;
  VirtualInstance reader{shared};
  VirtualInstance other{shared};
};

TEST_F(LoaderTest, ATaskOfAnotherProcessIsSeenByTheNextPass) {
  other.submit("pay", "k");
  read();
  EXPECT_EQ(seen(), 0U);
  shared.clock.advance(2500ms);
  read();
  EXPECT_EQ(seen(), 1U);
}

TEST_F(LoaderTest, NewsStartAPassAtOnce) {
  shared.clock.advance(1s);
  other.submit("pay", "k");
  reader.core.loader().look_soon();
  read();
  EXPECT_EQ(seen(), 1U);
}

TEST_F(LoaderTest, NewsThatFollowEachOtherQuicklyShareAPass) {
  shared.clock.advance(1s);
  reader.core.loader().look_soon();
  read();
  other.submit("pay", "k");
  reader.core.loader().look_soon();
  EXPECT_EQ(read(), shared.clock.steady() + 2ms);
  EXPECT_EQ(seen(), 0U);
  shared.clock.advance(2ms);
  read();
  EXPECT_EQ(seen(), 1U) << "none is forgotten";
}

TEST_F(LoaderTest, ShardsThatItHasAlreadyAreNoReasonToReadThemAgain) {
  other.submit("pay", "k");
  const auto all = ShardSet::all(64);
  const std::vector<ShardId> shards{all.list().begin(), all.list().end()};
  reader.core.own(shards);
  read();
  EXPECT_EQ(seen(), 0U) << "the next pass has not begun";
  reader.core.own({shards.begin(), shards.end() - 1});
  reader.core.own(shards);
  read();
  EXPECT_EQ(seen(), 1U);
}

TEST(LargeBacklog, IsWorkedOnWhileTheRestOfItIsRead) {
  SharedStore shared;
  VirtualInstance submitter{shared};
  submitter.handle("pay", [] {});
  for (int i = 0; i < 20'000; ++i) submitter.submit("pay", "k" + std::to_string(i));
  VirtualInstance reader{shared};
  reader.handle("pay", [] {});
  reader.core.loader().step();
  EXPECT_GT(reader.core.schedule().held(), 5'000U);
  EXPECT_LE(reader.core.schedule().held(), 10'000U);
}

// The walk must not fill memory with the tasks in front, and must reach the one behind them, however long that takes.
TEST(LargeBacklog, OfTheBackgroundDoesNotKeepAnUrgentTaskWaiting) {
  SharedStore shared;
  VirtualInstance submitter{shared};
  const auto submit = [&](const std::string& key, TaskClass task_class) {
    task::NewTask task;
    task.name_space = "default";
    task.handler = "pay";
    task.key = key;
    task.payload = "[]";
    task.task_class = task_class;
    return submitter.core.submit({&task, 1}).value().front().id;
  };
  for (int i = 0; i < 50'000; ++i) submit("background " + std::to_string(i), TaskClass::background);
  shared.clock.advance(1s);
  const TaskId urgent = submit("urgent", TaskClass::urgent);

  // A page takes a second, so that the pass takes several windows.
  VirtualInstance reader{shared, {.read_ahead = 8'000}};
  std::vector<TaskId> begun;
  reader.handle("pay", [&] { begun.push_back(current_task()->info.id); });
  int runs = 0;
  for (; runs < 1000 && std::ranges::count(begun, urgent) == 0; ++runs) {
    reader.core.loader().step();
    reader.core.pause_watch().step();
    reader.core.claimers()[0].step();
    reader.run_handlers();
    reader.settle();
    EXPECT_LE(reader.core.schedule().held(), 8'000U);
    shared.clock.advance(1s);
  }
  EXPECT_EQ(std::ranges::count(begun, urgent), 1);
  EXPECT_LT(begun.size(), 20'000U) << "most of what was due before it is still there";
}

TEST(PollPace, IsSeldomWhenNothingHasComeForAWhile) {
  SharedStore shared;
  shared.store = std::make_shared<storage::MemoryStore>(storage::MemoryStoreOptions{.shared = true}, shared.clock);
  VirtualInstance reader{shared, {.window = 1min}};
  reader.handle("pay", [] {});
  const auto next_look = [&] {
    Step step = reader.core.loader().step();
    while (step.worked) step = reader.core.loader().step();
    return step.wake - shared.clock.steady();
  };
  EXPECT_EQ(next_look(), 4s);
  VirtualInstance{shared}.submit("pay", "k");
  shared.clock.advance(4s);
  EXPECT_EQ(next_look(), 500ms);
  reader.all();
  shared.clock.advance(9s);
  EXPECT_EQ(next_look(), 500ms);
  shared.clock.advance(1s);
  EXPECT_EQ(next_look(), 4s);
}

// The options of a running engine, after a reload.
struct ReloadedLoader : LoaderTest {
  void reload(const EngineOptions& options) { reader.core.reconfigure({}, options); }
  void submit_due_in(Millis delay) {
    task::NewTask later;
    later.name_space = "default";
    later.handler = "pay";
    later.key = "k";
    later.payload = "[]";
    later.delay = delay;
    ASSERT_TRUE(other.core.submit({&later, 1}));
  }
};

TEST_F(ReloadedLoader, AWiderWindowIsReadAtOnce) {
  submit_due_in(30s);
  read();
  EXPECT_EQ(seen(), 0U);
  reload({.window = 60s});
  read();
  reader.core.claimers()[0].step();
  EXPECT_EQ(reader.core.in_wheel(), 1U);
}

TEST_F(ReloadedLoader, ANarrowerWindowForgetsTasksBeyondItAndKeepsTheRest) {
  reload({.window = 60s});
  submit_due_in(30s);
  read();
  reader.core.claimers()[0].step();
  ASSERT_EQ(reader.core.in_wheel(), 1U);
  reload({.window = 31s});
  EXPECT_EQ(reader.core.in_wheel(), 1U);
  reload({.window = 1s});
  EXPECT_EQ(reader.core.in_wheel(), 0U);
  EXPECT_EQ(seen(), 0U);
  shared.clock.advance(30s);
  read();
  EXPECT_EQ(seen(), 1U) << "a later pass finds it in time";
}

TEST_F(ReloadedLoader, PassesFollowEachOtherByTheNewWindow) {
  EXPECT_EQ(read(), shared.clock.steady() + 2500ms);
  reload({.window = 400ms});
  EXPECT_EQ(read(), shared.clock.steady() + 200ms);
}

TEST_F(ReloadedLoader, OverdueTasksOfOtherShardsAreLookedForByTheNewGrace) {
  reader.core.own(std::vector<ShardId>{});
  submit_due_in(0s);
  shared.clock.advance(3s);
  read();
  EXPECT_EQ(seen(), 0U);
  reload({.grace = 2s});
  read();
  shared.clock.advance(3s);
  read();
  EXPECT_EQ(seen(), 1U);
}

TEST(ReloadedBatch, PagesAndSettlementsHaveTheNewSize) {
  SharedStore shared;
  const auto watched = std::make_shared<WatchedStore>(shared.clock);
  shared.store = watched;
  VirtualInstance instance{shared};
  instance.handle("pay", [] {});
  for (int i = 0; i < 9; ++i) instance.submit("pay", std::to_string(i));
  EngineOptions small;
  small.batch = 3;
  instance.core.reconfigure({}, small);
  instance.all();
  EXPECT_EQ(watched->largest_page, 3U);
  EXPECT_EQ(watched->largest_claim, 3U);
}

}  // namespace
}  // namespace easyretry::engine
