// Counts of tasks while rows are moved, folds are killed and other transactions commit.

#include "storage/server/server_error.h"
#include "storage/sql/housekeeping.h"
#include "support/cutting_proxy.h"
#include "support/eventually.h"
#include "support/together.h"
#include "unit/servers/server_stores.h"

namespace easyretry::storage {
namespace {

class ServerCounts : public ServerStores {
 protected:
  static HandlerCounts paid(Store& store) { return store.counts(test::kNamespace).value()["pay"]; }
  static void insert_many(Store& store, int count) {
    for (int i = 0; i < count; ++i) insert(store, a_task());
  }
  static void fold(Store& store) {
    while (store.fold_counts().value()) {
    }
  }
  // Folds as fold_counts() does, but reports a failure as false.
  static bool folds(sql::Session& session) {
    try {
      session.begin(Promise::unneeded);
      sql::fold_sums(session);
      session.commit();
      return true;
    } catch (const server::ServerError&) {
      return false;
    }
  }
  void leave_by_hand(const std::string& values) {
    sql->run("INSERT INTO retry_count_delta (id, day, namespace, method_name, kind, tasks) VALUES (" + values + ")");
  }
  std::string sum(const std::string& table) { return sql->run("SELECT COALESCE(SUM(tasks), 0) FROM " + table); }
};
ON_EACH_SERVER(ServerCounts);

TEST_P(ServerCounts, ATransactionLeavesOneRowForEachHandlerAndKind) {
  const auto store = open(Layout::hash(4));
  std::vector<NewTask> tasks;
  for (int i = 0; i < 700; ++i) tasks.push_back(a_task().handler(i % 2 == 0 ? "pay" : "ship"));
  ASSERT_TRUE(store->insert(tasks));
  EXPECT_EQ(rows("retry_count_delta"), 2);
  const auto won = store->claim({loaded(*store), "worker", 1h}).value().won;
  std::vector<Settlement> ends(won.size());
  for (std::size_t i = 0; i < won.size(); ++i) {
    ends[i].ticket = {won[i].info.id, won[i].info.version};
    ends[i].outcome = i % 3 == 0 ? Outcome::exhausted : Outcome::succeeded;
  }
  ASSERT_TRUE(store->settle(ends));
  EXPECT_EQ(rows("retry_count_delta"), 2 + 4);
  EXPECT_EQ(paid(*store).live(), 0);
}

TEST_P(ServerCounts, AFoldLeavesFewRowsAndTheSameSums) {
  const auto store = open(Layout::single());
  insert_many(*store, 20);
  ASSERT_EQ(rows("retry_count_delta"), 20);
  fold(*store);
  EXPECT_EQ(rows("retry_count_delta"), 0);
  EXPECT_EQ(rows("retry_count"), 1);
  insert_many(*store, 2);
  fold(*store);
  EXPECT_EQ(sum("retry_count"), "22");
  EXPECT_EQ(paid(*store).total.stored, 22);
}

TEST_P(ServerCounts, AFoldSaysWhetherThereIsMore) {
  const auto store = open(Layout::single());
  for (int i = 0; i < 2001; ++i) leave_by_hand(std::to_string(i) + ", 0, 'shop', 'pay', 'STORED', 1");
  EXPECT_TRUE(store->fold_counts().value());
  EXPECT_TRUE(store->fold_counts().value());
  EXPECT_FALSE(store->fold_counts().value());
  EXPECT_EQ(paid(*store).total.stored, 2001);
}

TEST_P(ServerCounts, SumsOfANewerReleaseAreKeptAndNotGuessedAt) {
  const auto store = open(Layout::single());
  insert_many(*store, 1);
  leave_by_hand("1, 86400000, 'shop', 'pay', 'PAUSED', 7");
  fold(*store);
  ASSERT_TRUE(store->keep());
  EXPECT_EQ(sql->run("SELECT tasks FROM retry_count WHERE kind = 'PAUSED' AND day = 0"), "7");
  EXPECT_EQ(paid(*store).total, (Tally{.stored = 1}));
}

// The connection is cut after ever more bytes, as the server sees it when a keeper is killed there.
TEST_P(ServerCounts, AFoldKilledAnywhereHasLostAndDoubledNothing) {
  const auto store = open(Layout::single());
  insert_many(*store, 10);
  test::CuttingProxy proxy{test::shared_server_port(GetParam())};
  int killed = 0;
  for (std::size_t bytes = 0;; bytes += 20) {
    proxy.accept_new();
    const auto doomed = connect_session(GetParam(), database.name(), proxy.port());
    proxy.refuse_new();
    proxy.cut_after(test::Direction::to_server, bytes);
    const bool survived = folds(*doomed);
    ASSERT_EQ(paid(*store).total.stored, 10) << "cut after " << bytes;
    if (survived) break;
    ++killed;
  }
  EXPECT_GT(killed, 10);
  // Rows that a killed fold held are skipped until the server has noticed.
  EXPECT_TRUE(test::eventually([&] {
    fold(*store);
    return sum("retry_count_delta") == "0";
  }));
  EXPECT_EQ(sum("retry_count"), "10");
}

TEST_P(ServerCounts, SeveralMayFoldWhileOthersWriteAndNoReaderSeesATaskTwice) {
  const auto store = open(Layout::hash(2));
  std::vector<std::unique_ptr<Store>> stores;
  for (int i = 0; i < 5; ++i) stores.push_back(open(Layout::hash(2)));
  test::together(5, [&](int i) {
    Store& mine = *stores[static_cast<std::size_t>(i)];
    std::int64_t seen = 0;
    for (int round = 0; round < 60; ++round) {
      if (i < 2) insert_many(mine, 2);
      if (i == 2 || i == 3) {
        EXPECT_TRUE(mine.fold_counts());
      }
      if (i < 4) continue;
      const std::int64_t now = paid(mine).total.stored;
      EXPECT_GE(now, seen) << "none may be missed";
      EXPECT_LE(now, 240) << "none may be seen twice";
      seen = now;
    }
    return true;
  });
  EXPECT_EQ(paid(*store).total.stored, 240);
  fold(*store);
  EXPECT_EQ(sum("retry_count"), "240");
}

TEST_P(ServerCounts, RowsThatAreMovedAreNotCounted) {
  const auto store = open(Layout::period(PeriodLength::month, 2));
  insert_many(*store, 5);
  clock.set_wall(day(2025, 3, 5));
  while (store->keep().value().more) {
  }
  EXPECT_EQ(rows("retry_task_202503_0") + rows("retry_task_202503_1"), 5);
  EXPECT_EQ(paid(*store).total, (Tally{.stored = 5}));
  EXPECT_EQ(paid(*store).days.size(), 1U);
}

TEST_P(ServerCounts, ASplitCountsNothing) {
  const auto store = open(Layout::hash(2));
  insert_many(*store, 20);
  ASSERT_TRUE(store->split({.tables = 8}));
  EXPECT_EQ(paid(*store).total, (Tally{.stored = 20}));
}

TEST_P(ServerCounts, ALostReplyNeedsNothing) {
  const auto store = open(Layout::single());
  test::CuttingProxy proxy{test::shared_server_port(GetParam())};
  const auto far = open(Layout::single(), std::chrono::days{30}, proxy.port());
  insert(*far, a_task());  // makes the month's history, with a commit of its own
  const NewTask task = a_task();
  proxy.lose_reply_to(fault::commit_request(GetParam()));
  EXPECT_EQ(far->insert({&task, 1}).error().code, Errc::in_doubt);
  EXPECT_FALSE(insert(*far, task).created);
  EXPECT_EQ(paid(*store).total.stored, 2);
}

// Without the table a task could not be counted. So it is not stored, and the error is not in_doubt.
TEST_P(ServerCounts, AChangeThatCannotBeCountedIsNotMade) {
  const auto store = open(Layout::single());
  sql->run("DROP TABLE retry_count_delta");
  const NewTask task = a_task();
  EXPECT_EQ(store->insert({&task, 1}).error().code, Errc::unavailable);
  EXPECT_EQ(rows("retry_task"), 0);
}

}  // namespace
}  // namespace easyretry::storage
