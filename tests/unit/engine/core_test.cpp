// Leases, crashes and takeovers between instances that share a store, on virtual time.

#include "engine/core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/sqlite/sqlite_store.h"
#include "support/temp_folder.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct CoreTest : ::testing::Test {
  SharedStore shared;
  int calls = 0;
};

TEST_F(CoreTest, ATaskOfADeadInstanceComesBackWhenItsLeaseHasRunOut) {
  VirtualInstance survivor{shared};
  survivor.handle("pay", [&] { ++calls; });
  TaskId id{};
  {
    VirtualInstance victim{shared};
    victim.handle("pay", [&] { FAIL() << "dies before it runs"; });
    id = victim.submit("pay", "k");
    victim.claim();
    EXPECT_EQ(victim.look(id).info.state, TaskState::running);
  }
  shared.clock.advance(29999ms);
  survivor.all();
  EXPECT_EQ(calls, 0) << "the lease still holds";
  shared.clock.advance(1ms);
  survivor.all();
  EXPECT_EQ(calls, 1);
  const auto record = survivor.look(id);
  EXPECT_EQ(record.info.outcome, Outcome::succeeded);
  EXPECT_EQ(record.info.crashes, 1);
  EXPECT_EQ(record.info.attempts, 1) << "the crash is counted apart";
  EXPECT_EQ(record.info.deliveries, 2);
}

TEST_F(CoreTest, ATaskThatKeepsKillingItsWorkerIsQuarantined) {
  TaskId id{};
  for (int crash = 0; crash < 3; ++crash) {
    VirtualInstance victim{shared};
    victim.handle("pay", [] {});
    if (crash == 0) id = victim.submit("pay", "k");
    victim.claim();
    EXPECT_EQ(victim.look(id).info.deliveries, crash + 1);
    shared.clock.advance(30s);
  }
  VirtualInstance survivor{shared};
  survivor.handle("pay", [&] { ++calls; });
  survivor.all();
  EXPECT_EQ(calls, 0) << "never run again";
  EXPECT_EQ(survivor.look(id).info.outcome, Outcome::quarantined);
  EXPECT_THAT(survivor.look(id).info.last_error, HasSubstr("died 3 times"));
}

TEST_F(CoreTest, ALateFinisherChangesNothing) {
  VirtualInstance slow{shared};
  VirtualInstance fast{shared};
  slow.handle("pay", [&] { ++calls; });
  fast.handle(
      "pay", [&] { ++calls; }, Policy{.backoff = Fixed{1h}});
  const TaskId id = slow.submit("pay", "k");
  slow.claim();
  slow.run_handlers();
  shared.clock.advance(31s);  // slow stands still past its lease
  fast.all();
  EXPECT_EQ(fast.look(id).info.outcome, Outcome::succeeded);
  slow.settle();
  EXPECT_EQ(slow.core.stats().stale_settles, 1U);
  EXPECT_EQ(fast.look(id).info.deliveries, 2);
  EXPECT_EQ(calls, 2);
}

TEST_F(CoreTest, NothingIsStartedAfterTheLeaseCannotBeTrustedAnyMore) {
  VirtualInstance instance{shared};
  instance.handle("pay", [&] { ++calls; });
  const TaskId id = instance.submit("pay", "k");
  instance.claim();
  shared.clock.advance(28s);  // nine tenths of the lease are gone
  instance.run_handlers();
  EXPECT_EQ(calls, 0);
  instance.settle();
  EXPECT_EQ(instance.look(id).info.state, TaskState::pending);
  EXPECT_EQ(instance.look(id).info.attempts, 0) << "handed back, not burned";
}

TEST_F(CoreTest, TheRenewerKeepsALeaseAsLongAsTheTaskIsHeld) {
  VirtualInstance holder{shared};
  VirtualInstance other{shared};
  holder.handle("pay", [&] { ++calls; });
  other.handle("pay", [&] { FAIL() << "its lease is held"; });
  const TaskId id = holder.submit("pay", "k");
  holder.claim();
  for (int i = 0; i < 20; ++i) {
    shared.clock.advance(10s);
    holder.core.renewer().step();
    other.all();
  }
  holder.run_handlers();
  holder.settle();
  EXPECT_EQ(holder.look(id).info.outcome, Outcome::succeeded);
  EXPECT_EQ(holder.look(id).info.crashes, 0);
}

TEST_F(CoreTest, ALostLeaseSetsTheStopToken) {
  VirtualInstance holder{shared};
  VirtualInstance other{shared};
  holder.handle("pay", [] {});
  other.handle("pay", [] {});
  const TaskId id = holder.submit("pay", "k");
  holder.claim();
  const RunPtr run = holder.core.in_flight().find(id);
  shared.clock.advance(30s);
  other.claim();
  holder.core.renewer().step();
  EXPECT_TRUE(run->stop.stop_requested());
  EXPECT_EQ(run->interrupt, Interrupt::lease_lost);
}

TEST_F(CoreTest, ATimeoutSetsTheStopTokenAndThenLetsTheLeaseGo) {
  VirtualInstance holder{shared};
  VirtualInstance other{shared};
  holder.handle("pay", [] {}, {}, {.timeout = 5s});
  other.handle("pay", [&] { ++calls; });
  const TaskId id = holder.submit("pay", "k");
  holder.claim();
  const RunPtr run = holder.core.in_flight().find(id);
  run->started = shared.clock.steady();
  shared.clock.advance(5s);
  holder.core.renewer().step();
  EXPECT_EQ(run->interrupt, Interrupt::timeout);
  for (int i = 0; i < 8; ++i) {
    shared.clock.advance(5s);
    holder.core.renewer().step();
  }
  other.all();
  EXPECT_EQ(calls, 1) << "a handler that ignores its token does not hold its task for ever";
}

TEST_F(CoreTest, OnlyOwnedShardsAreScannedButLongOverdueTasksAreFoundAnywhere) {
  VirtualInstance submitter{shared};
  submitter.handle("pay", [] {});
  const TaskId id = submitter.submit("pay", "k");

  VirtualInstance elsewhere{shared};
  elsewhere.handle("pay", [&] { ++calls; });
  std::vector<ShardId> others;
  const auto all = ShardSet::all(64);
  for (const ShardId shard : all.list()) {
    if (shard != task::shard_of(id)) others.push_back(shard);
  }
  elsewhere.core.own(others);
  elsewhere.all();
  EXPECT_EQ(calls, 0);
  shared.clock.advance(31s);
  elsewhere.all();  // sweep
  elsewhere.all();
  EXPECT_EQ(calls, 1);
}

// A scan takes a while: what it read may have been run, and failed, before it is offered.
TEST_F(CoreTest, ARetryIsNotHeldUpByAnOlderReadingOfItsTask) {
  VirtualInstance instance{shared};
  instance.handle(
      "pay",
      [&] {
        if (++calls == 1) throw std::runtime_error("down");
      },
      Policy{.backoff = Fixed{0ms}});
  const TaskId id = instance.submit("pay", "k");
  const DueTask read_before{{id, 1}, shared.clock.now(), 0};
  instance.claim();
  instance.run_handlers();
  instance.core.schedule().offer({&read_before, 1});
  instance.settle();
  instance.core.claimers()[0].step();
  instance.run_handlers();
  EXPECT_EQ(calls, 2);
}

TEST_F(CoreTest, EntriesOfShardsGivenAwayLeaveMemory) {
  VirtualInstance instance{shared};
  instance.handle("pay", [&] { ++calls; });
  for (int i = 0; i < 100; ++i) instance.submit("pay", "k" + std::to_string(i));
  EXPECT_EQ(instance.core.schedule().held(), 100U);
  instance.core.own({});
  EXPECT_EQ(instance.core.schedule().held(), 0U);
}

// Their ids carry shards that a smaller number does not have.
TEST_F(CoreTest, EntriesFromBeforeAReshardStayWithTheOwnerOfTheirShard) {
  const test::TempFolder folder;
  storage::SqliteOptions file{.path = folder.path() / "retry.db"};
  shared.store = storage::open_sqlite(file, shared.clock);
  {
    VirtualInstance submitter{shared};
    for (int i = 0; i < 100; ++i) submitter.submit("pay", "k" + std::to_string(i));
  }
  shared.store.reset();
  file.total_shards = 16;
  ASSERT_GT(storage::reshard_sqlite(file, {.shards = 16}).misnumbered, 0);
  shared.store = storage::open_sqlite(file, shared.clock);

  VirtualInstance instance{shared};
  instance.handle("pay", [&] { ++calls; });
  instance.core.loader().step();
  EXPECT_EQ(instance.core.schedule().held(), 100U);
  const auto all = ShardSet::all(16);
  instance.core.own({all.list().begin(), all.list().end()});
  EXPECT_EQ(instance.core.schedule().held(), 100U);
}

TEST_F(CoreTest, MemoryStaysWithinItsBudgetHoweverLongTheBacklog) {
  EngineOptions options;
  options.read_ahead = 2000;
  VirtualInstance instance{shared, options};
  instance.handle("pay", [&] { ++calls; });
  for (int i = 0; i < 5000; ++i) instance.submit("pay", "k" + std::to_string(i));
  std::size_t most = 0;
  for (int i = 0; i < 100 && calls < 5000; ++i) {
    instance.all();
    most = std::max(most, instance.core.schedule().held());
  }
  EXPECT_LE(most, 2000U);
  EXPECT_EQ(calls, 5000);
}

TEST_F(CoreTest, ManyAreRetriedNowAtOneGoAndEachIsAnsweredFor) {
  VirtualInstance instance{shared};
  bool down = true;
  instance.handle(
      "pay",
      [&] {
        ++calls;
        if (down) throw std::runtime_error("down");
      },
      Policy{.backoff = Fixed{2s}});  // within the window: kept in memory for its time
  const TaskId one = instance.submit("pay", "one");
  const TaskId two = instance.submit("pay", "two");
  const TaskId ended = instance.submit("pay", "ended");
  instance.all();
  ASSERT_TRUE(instance.core.cancel(ended).value());
  down = false;
  const TaskId due = instance.submit("pay", "due");
  const std::vector ids{one, TaskId{12345}, two, ended, due, one};
  EXPECT_THAT(instance.core.retry_now(ids).value(), ElementsAre(true, false, true, false, true, true));
  EXPECT_EQ(instance.look(one).info.version, 4) << "stored, claimed, settled, revised: once, though it is there twice";
  EXPECT_EQ(instance.look(due).info.version, 1) << "left as it was";
  calls = 0;
  instance.all();
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(instance.core.stats().lost_claims, 0U) << "what was read before is forgotten";
}

}  // namespace
}  // namespace easyretry::engine
