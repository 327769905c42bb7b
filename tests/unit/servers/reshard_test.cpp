// Another number of shards for a database that no instance uses.

#include "support/cutting_proxy.h"
#include "unit/servers/resharded_stores.h"

namespace easyretry::storage {
namespace {

class Reshard : public ReshardedStores {};
ON_EACH_SERVER(Reshard);

TEST_P(Reshard, FewerShardsKeepEveryTaskAsItIsAndWhereItIsLookedFor) {
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(to_text(layout));
    start_afresh();
    auto store = open(layout, 64);
    store_every_state(*store);
    const auto before = records(*store);
    const auto due_before = sorted(due(*store));
    const ReshardPlan done = reshard(16);
    EXPECT_EQ(done.rows, 230);
    EXPECT_GT(done.misnumbered, 50);
    EXPECT_EQ(number(), "16");
    EXPECT_EQ(misnumbered(layout, 16), 0);

    store = open(layout, 16);
    EXPECT_EQ(sorted(due(*store)), due_before);
    EXPECT_TRUE(records(*store) == before);
    expect_found(*store, before);
  }
}

TEST_P(Reshard, MoreShardsChangeNoTask) {
  for (const Layout& layout : kLayouts) {
    for (const int shards : {128, 96, 4096}) {
      SCOPED_TRACE(to_text(layout) + " " + std::to_string(shards));
      start_afresh();
      auto store = open(layout, 64);
      store_every_state(*store);
      const auto before = records(*store);
      const auto due_before = sorted(due(*store));
      EXPECT_EQ(reshard(shards).misnumbered, 0);

      store = open(layout, shards);
      EXPECT_EQ(sorted(due(*store)), due_before);
      expect_found(*store, before);
    }
  }
}

TEST_P(Reshard, TheStoreKnowsTheSmallerNumbersThatItHadBefore) {
  EXPECT_THAT(open(Layout::single(), 64)->info().earlier_shards, ::testing::IsEmpty());
  reshard(128);
  EXPECT_THAT(open(Layout::single(), 128)->info().earlier_shards, ::testing::ElementsAre(64));
  reshard(32);
  EXPECT_THAT(open(Layout::single(), 32)->info().earlier_shards, ::testing::IsEmpty());
  reshard(256);
  EXPECT_THAT(open(Layout::single(), 256)->info().earlier_shards, ::testing::ElementsAre(32, 64, 128));
}

TEST_P(Reshard, TasksStoredAfterwardsUseAllShards) {
  open(Layout::hash(4), 64);
  reshard(256);
  const auto store = open(Layout::hash(4), 256);
  ASSERT_TRUE(store->insert(many(300)));
  EXPECT_GT(std::stoi(sql->run("SELECT count(*) FROM retry_task_1 WHERE shard >= 64")), 0);
  EXPECT_EQ(due(*store).size(), 300U);
  EXPECT_EQ(misnumbered(Layout::hash(4), 256), 0);
}

// A task that moved from shard 50 to 2 must not stay in its table: hash(32) looks for it by its id, in retry_task_18.
TEST_P(Reshard, FewerThenMoreThenSplitStillLeadsEachIdToItsRow) {
  auto store = open(Layout::hash(16), 64);
  ASSERT_TRUE(store->insert(many(300)));
  const auto before = records(*store);
  reshard(16);
  EXPECT_GT(reshard(64).misnumbered, 0);
  store = open(Layout::hash(16), 64);
  ASSERT_TRUE(store->split({.tables = 32}));
  EXPECT_EQ(misnumbered(Layout::hash(32), 64), 0);
  EXPECT_EQ(due(*store).size(), 300U);
  expect_found(*store, before);
}

TEST_P(Reshard, AKeyHasOneTaskAndIsFreeWhenThatHasEnded) {
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(to_text(layout));
    start_afresh();
    std::map<std::string, TaskId> ids;
    auto store = open(layout, 64);
    for (int i = 0; i < 40; ++i) {
      const std::string key = "pay:" + std::to_string(i);
      ids[key] = insert(*store, a_task().key(key)).id;
    }
    reshard(24);
    store = open(layout, 24);
    for (const auto& [key, id] : ids) {
      const Inserted there = insert(*store, a_task().key(key));
      EXPECT_EQ(there.id, id);
      ASSERT_TRUE(finish(*store, claim(*store, there, 1min)));
      EXPECT_TRUE(insert(*store, a_task().key(key)).created);
    }
  }
}

TEST_P(Reshard, MoreRowsThanOneTransactionTakesAreAllRenumbered) {
  auto store = open(Layout::single(), 64);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(store->insert(many(1000)));
  std::vector<std::int64_t> steps;
  sql::reshard_server(options_for(Layout::single(), 64),
                      {.shards = 10, .progress = [&](const ReshardProgress& step) { steps.push_back(step.rows); }});
  EXPECT_THAT(steps, ::testing::ElementsAre(2000, 4000, 5000));
  EXPECT_EQ(misnumbered(Layout::single(), 10), 0);
  store = open(Layout::single(), 10);
  EXPECT_EQ(due(*store).size(), 5000U);
}

TEST_P(Reshard, StoppedBetweenTwoTablesItGoesOn) {
  auto store = open(Layout::hash(4), 64);
  ASSERT_TRUE(store->insert(many(200)));
  const auto before = records(*store);
  struct Stopped {};
  const auto stop = [](const ReshardProgress& progress) {
    if (progress.table == 2) throw Stopped{};
  };
  EXPECT_THROW(sql::reshard_server(options_for(Layout::hash(4), 64), {.shards = 8, .progress = stop}), Stopped);
  EXPECT_EQ(number(), "64>8");
  EXPECT_GT(misnumbered(Layout::hash(4), 8), 0);
  EXPECT_TRUE(reshard(8).begun);
  EXPECT_EQ(misnumbered(Layout::hash(4), 8), 0);
  store = open(Layout::hash(4), 8);
  EXPECT_EQ(due(*store).size(), 200U);
  expect_found(*store, before);
}

TEST_P(Reshard, CutOffAnywhereItGoesOnAndHasLostAndDoubledNothing) {
  auto store = open(Layout::hash(2), 64);
  ASSERT_TRUE(store->insert(many(60)));
  const auto before = records(*store);
  test::CuttingProxy proxy{test::shared_server_port(GetParam())};
  std::set<std::string> met;
  for (std::size_t bytes = 0;; bytes += 70) {
    proxy.accept_new();
    sql::ServerOptions doomed = options(Layout::hash(2), std::chrono::days{30}, proxy.port());
    auto session = std::make_shared<std::unique_ptr<sql::Session>>(doomed.connect());
    doomed.connect = [session] {
      if (!*session) throw server::ServerError{server::Trouble::gone, "killed"};
      return std::move(*session);
    };
    proxy.refuse_new();
    proxy.cut_after(test::Direction::to_server, bytes);
    try {
      sql::reshard_server(doomed, {.shards = 16});
      break;
    } catch (const StoreError&) {
      met.insert(number());
      ASSERT_TRUE(records(*store) == before) << "cut after " << bytes;
    }
  }
  EXPECT_THAT(met, ::testing::IsSupersetOf({"64", "64>16"}));
  EXPECT_EQ(number(), "16");
  EXPECT_EQ(misnumbered(Layout::hash(2), 16), 0);
  store = open(Layout::hash(2), 16);
  EXPECT_EQ(due(*store).size(), 60U);
}

}  // namespace
}  // namespace easyretry::storage
