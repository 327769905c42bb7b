// hash(n) gets more tables while others work.

#include <atomic>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "storage/sql/live_rows.h"
#include "support/cutting_proxy.h"
#include "task/task_id.h"
#include "unit/servers/server_stores.h"

namespace easyretry::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Split : public ServerStores {
 protected:
  // Rows that are not in the table of their shard.
  int misplaced(int tables) {
    int rows = 0;
    for (int table = 0; table < tables; ++table) {
      rows += std::stoi(sql->run("SELECT count(*) FROM retry_task_" + std::to_string(table) + " WHERE shard % " +
                                 std::to_string(tables) + " <> " + std::to_string(table)));
    }
    return rows;
  }
  sql::Pool::Connect connecting() {
    return options(Layout::hash(2), 24h, test::shared_server_port(GetParam())).connect;
  }
  std::string layout() { return sql->run("SELECT value FROM retry_meta WHERE name = 'layout'"); }
  void insert_many(Store& store, int count) {
    std::vector<NewTask> tasks;
    for (int i = 0; i < count; ++i) tasks.push_back(a_task());
    ASSERT_TRUE(store.insert(tasks));
  }
  static std::string refusal(const Result<std::vector<SplitMove>>& reply) { return reply ? "" : reply.error().detail; }
};
ON_EACH_SERVER(Split);

TEST_P(Split, MovesEachTaskToTheTableOfItsShard) {
  const auto store = open(Layout::hash(2));
  insert_many(*store, 1500);
  const auto before = ids(*store);
  EXPECT_EQ(store->split({.tables = 8}).value().size(), 6U);
  EXPECT_EQ(layout(), "hash(8)");
  EXPECT_EQ(ids(*store), before);
  EXPECT_EQ(misplaced(8), 0);
  EXPECT_EQ(due(*store).size(), 1500U);
}

TEST_P(Split, APlanChangesNothing) {
  const auto store = open(Layout::hash(2));
  insert_many(*store, 100);
  const auto plan = store->split({.tables = 4, .only_plan = true}).value();
  ASSERT_EQ(plan.size(), 2U);
  EXPECT_EQ(plan[0].from, "retry_task_0");
  EXPECT_EQ(plan[0].to, "retry_task_2");
  EXPECT_EQ(layout(), "hash(2)");
}

TEST_P(Split, WantsNoSecondTryWhereARestartOfTheServerBrokeTheConnections) {
  test::CuttingProxy proxy{test::shared_server_port(GetParam())};
  const auto store = open(Layout::hash(2), 24h, proxy.port());
  insert_many(*store, 100);
  EXPECT_EQ(ids(*store).size(), 100U);
  proxy.cut_all();
  EXPECT_EQ(refusal(store->split({.tables = 4, .only_plan = true})), "");
  proxy.cut_all();
  EXPECT_EQ(refusal(store->split({.tables = 4})), "");
  EXPECT_EQ(misplaced(4), 0);
}

TEST_P(Split, AnUnsplittableLayoutIsRefusedWithTheOnesThatCanBeSplit) {
  const auto store = open(Layout::hash(4));
  EXPECT_THAT(refusal(store->split({.tables = 6})), HasSubstr("does not divide 64 shards"));
  EXPECT_THAT(refusal(store->split({.tables = 2})), HasSubstr("a multiple of 4"));
  EXPECT_EQ(layout(), "hash(4)");
}

TEST_P(Split, AnInstanceThatHasNotHeardOfItWorksOn) {
  const auto store = open(Layout::hash(2));
  const auto stale = open(Layout::hash(2));
  insert_many(*stale, 50);
  const Inserted running = insert(*stale, a_task());
  const Ticket ticket = claim(*stale, running, 1h);
  const Inserted waiting = insert(*stale, a_task().key("pay:42"));
  ASSERT_TRUE(store->split({.tables = 8}));

  EXPECT_TRUE(finish(*stale, ticket));
  EXPECT_TRUE(find(*stale, waiting.id));
  EXPECT_EQ(insert(*stale, a_task().key("pay:42")).id, waiting.id);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(insert(*stale, a_task()).created);
  EXPECT_EQ(misplaced(8), 0);
  EXPECT_EQ(due(*stale).size(), 101U);
}

TEST_P(Split, AnInsertByTheOldLayoutIsPlacedByTheNewOne) {
  const auto store = open(Layout::hash(2));
  const auto stale = open(Layout::hash(2));
  ASSERT_TRUE(store->split({.tables = 8}));
  insert_many(*stale, 100);
  EXPECT_EQ(misplaced(8), 0);
}

// A row that an insert in flight stores by the old layout is there before the first row is moved.
TEST_P(Split, TheLayoutIsNotChangedWhileAnInsertHoldsIt) {
  open(Layout::hash(2));
  const auto inserting = connect_session(GetParam(), database.name());
  const auto splitting = connect_session(GetParam(), database.name());
  inserting->begin(Promise::kept);
  EXPECT_EQ(inserting->schema().hold_layout(), "hash(2)");
  auto changed = std::async(std::launch::async,
                            [&] { return splitting->schema().change_meta("layout", "hash(2)", "hash(2)>hash(4)"); });
  EXPECT_EQ(changed.wait_for(300ms), std::future_status::timeout);
  EXPECT_EQ(layout(), "hash(2)");
  inserting->commit();
  EXPECT_TRUE(changed.get());
  inserting->begin(Promise::kept);
  EXPECT_EQ(inserting->schema().hold_layout(), "hash(2)>hash(4)");
  inserting->roll_back();
}

TEST_P(Split, NewInstancesMustHaveTheNewLayout) {
  const auto store = open(Layout::hash(2));
  ASSERT_TRUE(store->split({.tables = 4}));
  EXPECT_NO_THROW(open(Layout::hash(4)));
  try {
    open(Layout::hash(2));
    FAIL() << "opened";
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), HasSubstr("set layout=hash(4)"));
  }
}

TEST_P(Split, KilledAnywhereItGoesOnAndHasLostAndDoubledNothing) {
  const auto store = open(Layout::hash(2));
  insert_many(*store, 40);
  const auto before = ids(*store);
  test::CuttingProxy proxy{test::shared_server_port(GetParam())};
  int killed = 0;
  for (std::size_t bytes = 0;; bytes += 60) {
    proxy.accept_new();
    const bool begun = layout().find('>') != std::string::npos;
    const auto doomed = open(Layout::hash(begun ? 4 : 2), std::chrono::days{30}, proxy.port());
    proxy.die_after(test::Direction::to_server, bytes);
    const bool survived = doomed->split({.tables = 4}).has_value();
    ASSERT_EQ(ids(*store), before) << "cut after " << bytes;
    ASSERT_EQ(due(*store).size(), before.size()) << "cut after " << bytes;
    if (survived || layout() == "hash(4)") break;
    ++killed;
  }
  EXPECT_GT(killed, 10);
  EXPECT_EQ(layout(), "hash(4)");
  EXPECT_EQ(misplaced(4), 0);
  EXPECT_EQ(ids(*store), before);
}

TEST_P(Split, ALayoutThatIsSplitAlreadyNeedsNoMoves) {
  const auto store = open(Layout::hash(2));
  ASSERT_TRUE(store->split({.tables = 4}));
  EXPECT_THAT(store->split({.tables = 4, .only_plan = true}).value(), ::testing::IsEmpty());
  EXPECT_THAT(store->split({.tables = 4}).value(), ::testing::IsEmpty());
  EXPECT_EQ(layout(), "hash(4)");
}

TEST_P(Split, OtherLayoutsAreRefusedWithARemedy) {
  const auto store = open(Layout::single());
  EXPECT_THAT(refusal(store->split({.tables = 4, .only_plan = true})),
              AllOf(HasSubstr("only hash layouts can be split"), HasSubstr("an empty one with layout=hash(4)")));
}

TEST_P(Split, BrokenOffItSaysSoAndGoesOnWhenBegunAgain) {
  const auto store = open(Layout::hash(2));
  insert_many(*store, 3000);
  std::stop_source stop;
  const auto broken_off =
      store->split({.tables = 4, .progress = [&](const SplitMove&) { stop.request_stop(); }, .stop = stop.get_token()});
  ASSERT_FALSE(broken_off);
  EXPECT_EQ(broken_off.error().code, Errc::unavailable);
  EXPECT_THAT(broken_off.error().detail, HasSubstr("interrupted"));
  EXPECT_EQ(layout(), "hash(2)>hash(4)");
  EXPECT_THAT(refusal(store->split({.tables = 8})), HasSubstr("a split into hash(4) has begun"));
  EXPECT_TRUE(store->split({.tables = 4}));
  EXPECT_EQ(misplaced(4), 0);
  EXPECT_EQ(due(*store).size(), 3000U);
}

TEST_P(Split, RowsThatWerePlacedBeforeAnotherThreadLearnedOfItAreNotStoredByTheFormerLayout) {
  const auto store = open(Layout::hash(2));
  sql::Pool pool{connecting(), 1};
  sql::Tables known{pool, TableRouter{Layout::hash(2), store->info().total_shards}};
  const auto session = pool.take();
  sql::LiveRows placed{*session, known, clock.now()};
  ASSERT_TRUE(store->split({.tables = 4}));
  known.learn("hash(4)");
  session->begin(Promise::kept);
  const TaskRecord row;
  EXPECT_THROW(placed.insert({}, {&row, 1}), sql::LayoutChanged);
}

TEST_P(Split, AnOutdatedLayoutOfAnotherThreadIsIgnored) {
  sql::Pool pool{connecting(), 1};
  sql::Tables known{pool, TableRouter{Layout::hash(2), 64}};
  const auto asked = known.as_of();
  known.learn("hash(4)");
  known.observe("hash(2)", asked);
  EXPECT_EQ(known.router().layout(), Layout::hash(4));
}

// One thread of it splits, and the others learn of the new layout at any moment, also from each other.
TEST_P(Split, AnInstanceThatSplitsStoresMeanwhileByTheLayoutOfThatMoment) {
  const auto store = open(Layout::hash(1));
  std::atomic<bool> split{false};
  std::atomic<int> stored{0};
  const auto submit = [&] {
    while (!split) {
      const NewTask task = a_task();
      const auto reply = store->insert({&task, 1});
      ASSERT_TRUE(reply) << to_string(reply.error());
      ++stored;
      EXPECT_TRUE(find(*store, reply->tasks.front().id));
    }
  };
  {
    std::vector<std::jthread> submitting;
    for (int i = 0; i < 4; ++i) submitting.emplace_back(submit);
    std::vector<std::jthread> loading;
    for (int i = 0; i < 2; ++i) {
      loading.emplace_back([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) loaded(*store);
      });
    }
    for (const int tables : {2, 4, 8, 16, 32, 64}) {
      const auto moves = store->split({.tables = tables});
      EXPECT_TRUE(moves) << to_string(moves.error());
    }
    split = true;
  }
  EXPECT_EQ(misplaced(64), 0);
  EXPECT_EQ(due(*store).size(), static_cast<std::size_t>(stored));
}

TEST_P(Split, UnderLoadEveryTaskEndsOnce) {
  const auto splitter = open(Layout::hash(2));
  const auto submitter = open(Layout::hash(2));
  const auto worker = open(Layout::hash(2));
  insert_many(*splitter, 2000);
  std::atomic<bool> split{false};
  std::atomic<bool> all_stored{false};
  int stored = 2000;
  std::set<TaskId> ended;
  const auto work = [&] {
    const auto won = worker->claim({loaded(*worker), "worker", 1h});
    ASSERT_TRUE(won) << to_string(won.error());
    std::vector<Settlement> settlements;
    for (const TaskRecord& record : won->won) {
      settlements.emplace_back().ticket = {record.info.id, record.info.version};
    }
    const auto reply = worker->settle(settlements);
    ASSERT_TRUE(reply) << to_string(reply.error());
    for (std::size_t i = 0; i < settlements.size(); ++i) {
      EXPECT_TRUE(reply->applied[i]);
      EXPECT_TRUE(ended.insert(settlements[i].ticket.id).second) << "ended twice";
    }
  };
  {
    const std::jthread working{[&] {
      while (!all_stored) work();
      work();
    }};
    {
      const std::jthread submitting{[&] {
        while (!split) {
          const NewTask task = a_task();
          if (submitter->insert({&task, 1})) ++stored;
        }
      }};
      EXPECT_TRUE(splitter->split({.tables = 8}));
      split = true;
    }
    all_stored = true;
  }
  EXPECT_EQ(ended.size(), static_cast<std::size_t>(stored));
  EXPECT_THAT(ids(*splitter), ::testing::IsEmpty());
  EXPECT_EQ(rows("retry_task_key"), 0);
}

}  // namespace
}  // namespace easyretry::storage
