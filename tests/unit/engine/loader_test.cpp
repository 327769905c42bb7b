// When the store is read, by an instance that stores nothing itself.

#include "engine/loader.h"

#include <gtest/gtest.h>

#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

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

TEST(Polling, IsSeldomWhenNothingHasComeForAWhile) {
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

}  // namespace
}  // namespace easyretry::engine
