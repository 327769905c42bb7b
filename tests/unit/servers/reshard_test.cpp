// Another number of shards for a database that nobody works on.

#include <map>
#include <set>

#include "conformance/record_text.h"
#include "storage/sql/reshard_server.h"
#include "support/cutting_proxy.h"
#include "task/task_id.h"
#include "unit/servers/server_stores.h"

namespace easyretry::storage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<Layout> kLayouts{Layout::single(), Layout::hash(4), Layout::period(PeriodLength::month, 2)};

class Reshard : public ServerStores {
 protected:
  sql::ServerOptions options_for(Layout layout, int shards) {
    sql::ServerOptions wanted = options(layout, std::chrono::days{30}, test::shared_server_port(GetParam()));
    wanted.total_shards = shards;
    return wanted;
  }
  std::unique_ptr<Store> open(Layout layout, int shards) { return sql::open_server_store(options_for(layout, shards)); }
  ReshardPlan reshard(int shards) { return sql::reshard_server(options_for(Layout::single(), 64), {.shards = shards}); }
  ReshardPlan plan(int shards) {
    return sql::reshard_server(options_for(Layout::single(), 64), {.shards = shards, .only_plan = true});
  }
  std::string refusal(int shards) {
    try {
      reshard(shards);
      return {};
    } catch (const std::exception& error) {
      return error.what();
    }
  }
  std::string refusal_to_open(Layout layout, int shards) {
    try {
      open(layout, shards);
      return {};
    } catch (const StoreError& error) {
      return error.what();
    }
  }
  std::string number() { return sql->run("SELECT value FROM retry_meta WHERE name = 'total_shards'"); }
  void set_number(const std::string& text) {
    sql->run("UPDATE retry_meta SET value = '" + text + "' WHERE name = 'total_shards'");
  }
  void start_afresh() {
    for (const std::string& table : connect_session(GetParam(), database.name())->tables()) {
      sql->run("DROP TABLE " + table);
    }
  }

  static std::vector<NewTask> many(int count) {
    std::vector<NewTask> tasks;
    for (int i = 0; i < count; ++i) tasks.push_back(a_task());
    return tasks;
  }
  // Of every state that a task can be in; what was leased is not leased any more.
  void store_every_state(Store& store) {
    ASSERT_TRUE(store.insert(many(150)));
    for (int i = 0; i < 20; ++i) {
      insert(store, a_task().due_in(1h));
      insert(store, a_task().business("order", "order-" + std::to_string(i)));
      ASSERT_TRUE(finish(store, claim(store, insert(store, a_task()), 1min)));
      const TaskId told = insert(store, a_task()).id;
      ASSERT_TRUE(store.cancel({&told, 1}, Cancel::tell).value().applied.at(0));
      ASSERT_NE(claim(store, insert(store, a_task()), 1min), Ticket{});
    }
    clock.advance(2min);
  }
  static std::map<TaskId, std::string> records(Store& store) {
    std::map<TaskId, std::string> texts;
    for (const bool finished : {false, true}) {
      TaskQuery query;
      query.limit = 100'000;
      query.finished = finished;
      const auto page = store.list(query).value();
      for (const TaskRecord& record : page) texts[record.info.id] = test::record_text(record);
    }
    return texts;
  }
  // Each is found by its id as it was, and by its key where it is live.
  static void expect_found(Store& store, const std::map<TaskId, std::string>& expected) {
    for (const auto& [id, text] : expected) {
      const auto record = find(store, id);
      ASSERT_TRUE(record) << static_cast<std::int64_t>(id);
      EXPECT_EQ(test::record_text(*record), text);
      if (record->info.state == TaskState::finished) continue;
      const Inserted again = insert(store, a_task().key(record->info.key).business("", record->info.business_id));
      EXPECT_EQ(again.id, id);
      EXPECT_FALSE(again.created);
    }
  }
  static std::multiset<TaskId> sorted(const std::vector<TaskId>& ids) { return {ids.begin(), ids.end()}; }

  // Rows whose shard, lane or table is not what their ids say.
  int misnumbered(Layout layout, int shards) {
    const TableRouter router{layout, shards};
    int wrong = 0;
    for (const std::string& table : connect_session(GetParam(), database.name())->tables()) {
      const auto id = router.parse(table);
      if (!id) continue;
      const std::string shard = "((id >> 10) & 4095) % " + std::to_string(shards);
      const std::string lane = GetParam() == ServerKind::postgres ? " OR lane & 4095 <> shard" : "";
      wrong += std::stoi(sql->run("SELECT count(*) FROM " + table + " WHERE shard <> " + shard + lane + " OR shard % " +
                                  std::to_string(layout.tables()) + " <> " + std::to_string(id->suffix)));
    }
    return wrong;
  }
};
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

TEST_P(Reshard, WhatIsStoredAfterwardsUsesAllShards) {
  open(Layout::hash(4), 64);
  reshard(256);
  const auto store = open(Layout::hash(4), 256);
  ASSERT_TRUE(store->insert(many(300)));
  EXPECT_GT(std::stoi(sql->run("SELECT count(*) FROM retry_task_1 WHERE shard >= 64")), 0);
  EXPECT_EQ(due(*store).size(), 300U);
  EXPECT_EQ(misnumbered(Layout::hash(4), 256), 0);
}

// A task that went from shard 50 to 2 must not stay there: hash(32) looks for it by its id, in retry_task_18.
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

TEST_P(Reshard, APlanChangesNothing) {
  const auto store = open(Layout::hash(4), 64);
  ASSERT_TRUE(store->insert(many(100)));
  const ReshardPlan planned = plan(8);
  EXPECT_EQ(planned.from, 64);
  EXPECT_EQ(planned.to, 8);
  EXPECT_EQ(planned.tables, 4U);
  EXPECT_EQ(planned.rows, 100);
  EXPECT_GT(planned.misnumbered, 0);
  EXPECT_EQ(number(), "64");
  EXPECT_EQ(misnumbered(Layout::hash(4), 64), 0);
}

TEST_P(Reshard, TheSameNumberIsNothingToDo) {
  const auto store = open(Layout::single(), 64);
  claim(*store, insert(*store, a_task()), 1h);
  EXPECT_TRUE(reshard(64).nothing_to_do());
}

TEST_P(Reshard, WhileATaskIsLeasedItIsRefusedAndNothingIsChanged) {
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(to_text(layout));
    start_afresh();
    const auto store = open(layout, 64);
    ASSERT_TRUE(store->insert(many(50)));
    ASSERT_NE(claim(*store, insert(*store, a_task()), 1min), Ticket{});
    EXPECT_THAT(refusal(32),
                AllOf(HasSubstr("1 tasks are being run"), HasSubstr("by worker"), HasSubstr("stop all instances")));
    EXPECT_EQ(number(), "64");
    EXPECT_EQ(misnumbered(layout, 64), 0);
    clock.advance(1min);
    EXPECT_EQ(refusal(32), "");
  }
}

TEST_P(Reshard, ANumberThatCannotBeIsRefusedWithOneThatCan) {
  open(Layout::hash(4), 64);
  EXPECT_THAT(refusal(0), HasSubstr("1 to 4096"));
  EXPECT_THAT(refusal(-3), HasSubstr("1 to 4096"));
  EXPECT_THAT(refusal(4097), HasSubstr("1 to 4096"));
  EXPECT_THAT(refusal(30), HasSubstr("the 4 tables of hash(4) do not divide 30 shards; use 28 or 32"));
  EXPECT_THAT(refusal(3), HasSubstr("use 4"));
  EXPECT_EQ(number(), "64");
}

TEST_P(Reshard, AnEmptyDatabaseIsToldAndStaysEmpty) {
  EXPECT_THAT(refusal(32), HasSubstr("there is nothing of EasyRetry"));
  EXPECT_FALSE(sql::server_settings(options_for(Layout::single(), 64)));
  EXPECT_THAT(connect_session(GetParam(), database.name())->tables(), IsEmpty());
}

TEST_P(Reshard, AnInstanceWithAnotherNumberIsRefusedWithTheCommandThatHelps) {
  open(Layout::single(), 64);
  EXPECT_THAT(refusal_to_open(Layout::single(), 128),
              AllOf(HasSubstr("set shards=64"), HasSubstr("`easyretry reshard --store … --shards 128`")));
  reshard(128);
  EXPECT_EQ(refusal_to_open(Layout::single(), 128), "");
  EXPECT_THAT(refusal_to_open(Layout::single(), 64), HasSubstr("set shards=128"));
}

TEST_P(Reshard, AnInstanceWithMoreTablesIsRefusedWithTheSplitThatHelps) {
  open(Layout::hash(4), 64);
  EXPECT_THAT(refusal_to_open(Layout::hash(8), 64),
              AllOf(HasSubstr("set layout=hash(4)"), HasSubstr("`easyretry split --store … --to 8`")));
  EXPECT_THAT(refusal_to_open(Layout::hash(2), 64), ::testing::Not(HasSubstr("easyretry split")));
}

TEST_P(Reshard, UntilItIsFinishedNoInstanceOpens) {
  open(Layout::single(), 64);
  set_number("64>32");
  for (const int shards : {64, 32}) {
    EXPECT_THAT(refusal_to_open(Layout::single(), shards),
                AllOf(HasSubstr("from 64 to 32"), HasSubstr("`easyretry reshard --store … --shards 32`")));
  }
  EXPECT_THAT(refusal(16), HasSubstr("a change to 32 shards has begun"));
  EXPECT_TRUE(reshard(32).begun);
  EXPECT_EQ(refusal_to_open(Layout::single(), 32), "");
}

TEST_P(Reshard, ATableSplitGoesFirst) {
  open(Layout::hash(4), 64);
  sql->run("UPDATE retry_meta SET value = 'hash(4)>hash(8)' WHERE name = 'layout'");
  EXPECT_THAT(refusal(32), HasSubstr("`easyretry split --store … --to 8`"));
  EXPECT_EQ(number(), "64");
}

TEST_P(Reshard, ASplitDoesNotBeginMeanwhile) {
  const auto store = open(Layout::hash(4), 64);
  set_number("64>12");
  const auto split = store->split({.tables = 8});
  ASSERT_FALSE(split);
  EXPECT_THAT(split.error().detail, HasSubstr("easyretry reshard"));
  EXPECT_EQ(sql->run("SELECT value FROM retry_meta WHERE name = 'layout'"), "hash(4)");
}

TEST_P(Reshard, AnInstanceThatWasLeftRunningNoticesAndStoresNothingMore) {
  const auto stale = open(Layout::single(), 64);
  reshard(16);
  const auto loaded = stale->load({.space = test::kSpace, .from = std::vector<ShardCursor>{{.shard = ShardId{1}}}});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().detail, HasSubstr("set shards=16"));
  const NewTask task = a_task();
  const auto inserted = stale->insert({&task, 1});
  ASSERT_FALSE(inserted);
  EXPECT_EQ(inserted.error().code, Errc::unavailable);
  EXPECT_THAT(inserted.error().detail, HasSubstr("set shards=16"));
  EXPECT_EQ(rows("retry_task"), 0);
}

// A process that only stores never loads.
TEST_P(Reshard, AnInstanceThatOnlyStoresNoticesToo) {
  sql::ServerOptions storing = options_for(Layout::hash(4), 64);
  storing.look_at_shards_every = 0ms;
  const auto stale = sql::open_server_store(storing);
  insert(*stale, a_task());
  reshard(16);
  const NewTask task = a_task();
  const auto inserted = stale->insert({&task, 1});
  ASSERT_FALSE(inserted);
  EXPECT_THAT(inserted.error().detail, HasSubstr("set shards=16"));
}

// It waits there for an instance that can store it.
TEST_P(Reshard, AnInstanceThatNoticedRefusesNoRowOfTheInbox) {
  const auto stale = open(Layout::single(), 64);
  sql->run("INSERT INTO retry_inbox (method_name, params_json) VALUES ('pay', '[]')");
  reshard(16);
  ASSERT_FALSE(stale->load({.space = test::kSpace, .from = std::vector<ShardCursor>{{.shard = ShardId{1}}}}));
  const std::vector<std::string> handlers{"pay"};
  const NewTask task = a_task();
  EXPECT_FALSE(stale->take_in({"default", handlers}, [&](const InboxRow&) { return task; }));
  EXPECT_EQ(sql->run("SELECT count(*) FROM retry_inbox WHERE refused_at IS NULL"), "1");
}

TEST_P(Reshard, WhatItStoredBeforeItNoticedIsMendedByTheSameCommand) {
  const auto stale = open(Layout::single(), 64);
  reshard(16);
  ASSERT_TRUE(stale->insert(many(100)));
  EXPECT_GT(misnumbered(Layout::single(), 16), 0);
  EXPECT_FALSE(reshard(16).nothing_to_do());
  EXPECT_EQ(misnumbered(Layout::single(), 16), 0);
  EXPECT_EQ(number(), "16");
  EXPECT_EQ(due(*open(Layout::single(), 16)).size(), 100U);
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
      if (!*session) throw sql::ServerError{sql::Trouble::gone, "killed"};
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
