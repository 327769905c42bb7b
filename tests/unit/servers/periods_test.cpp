// Tables that come and go with time: what is stored, found, moved and dropped, on a clock of the test's own.

#include <algorithm>
#include <set>

#include "support/cutting_proxy.h"
#include "support/endings.h"
#include "support/together.h"
#include "task/task_key.h"
#include "unit/servers/server_stores.h"

namespace easyretry::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using Kind = KeepStep::Kind;

class Periods : public ServerStores {
 protected:
  // Until there is nothing left to do.
  static std::vector<KeepStep> keep(Store& store) {
    std::vector<KeepStep> all;
    for (bool more = true; more;) {
      const KeepReport report = store.keep().value();
      std::ranges::copy(report.steps, std::back_inserter(all));
      more = report.more;
    }
    return all;
  }
  static std::vector<std::string> tables(const std::vector<KeepStep>& steps, KeepStep::Kind kind) {
    std::vector<std::string> names;
    for (const KeepStep& step : steps) {
      if (step.kind == kind) names.push_back(step.table);
    }
    return names;
  }
  static std::int64_t moved(const std::vector<KeepStep>& steps) {
    std::int64_t rows = 0;
    for (const KeepStep& step : steps) rows += step.rows;
    return rows;
  }
};
ON_EACH_SERVER(Periods);

const Layout kMonths = Layout::period(PeriodLength::month, 2);

TEST_P(Periods, ATaskIsInTheTableOfItsMonthAndShard) {
  const auto store = open(kMonths);
  int number = 0;
  std::string key;
  do key = "key " + std::to_string(++number);
  while (task::shard_for("", key, 64) != ShardId{33});
  insert(*store, a_task().key(key));
  EXPECT_EQ(rows("retry_task_202501_1"), 1);
  EXPECT_EQ(rows("retry_task_202501_0"), 0);
}

TEST_P(Periods, AKeyHasOneLiveTaskAlsoAcrossABoundary) {
  const auto store = open(kMonths);
  clock.set_wall(day(2025, 2, 1) - 1ms);
  const Inserted first = insert(*store, a_task().key("pay:42"));
  clock.advance(1ms);
  const Inserted second = insert(*store, a_task().key("pay:42"));
  EXPECT_FALSE(second.created);
  EXPECT_EQ(second.id, first.id);
  EXPECT_EQ(ids(*store).size(), 1U);
}

TEST_P(Periods, TablesAreThereBeforeTheirPeriodBegins) {
  const auto store = open(kMonths);
  EXPECT_THAT(keep(*store), IsEmpty());
  clock.set_wall(day(2025, 1, 30) + 1h);
  EXPECT_THAT(tables(keep(*store), Kind::made), ElementsAre("retry_task_202502_0", "retry_task_202502_1"));
  EXPECT_THAT(keep(*store), IsEmpty());
}

TEST_P(Periods, UnfinishedTasksAreMovedBeforeTheirTableIsDropped) {
  const auto store = open(kMonths);
  const Inserted task = insert(*store, a_task().key("pay:42"));
  clock.set_wall(day(2025, 3, 5));
  const auto steps = keep(*store);
  EXPECT_EQ(moved(steps), 1);
  EXPECT_THAT(tables(steps, Kind::emptied), ::testing::SizeIs(1));
  EXPECT_THAT(tables(steps, Kind::dropped), IsSupersetOf({"retry_task_202501_0", "retry_task_202501_1"}));
  EXPECT_THAT(keep(*store), IsEmpty());

  EXPECT_EQ(find(*store, task.id)->info.key, "pay:42");
  EXPECT_EQ(insert(*store, a_task().key("pay:42")).id, task.id);
  EXPECT_THAT(ids(*store), ElementsAre(task.id));
  EXPECT_THAT(due(*store), ElementsAre(task.id));
  EXPECT_TRUE(finish(*store, claim(*store, task, 1h)));
  EXPECT_EQ(find(*store, task.id)->info.state, TaskState::finished);
  EXPECT_TRUE(insert(*store, a_task().key("pay:42")).created);
}

TEST_P(Periods, ATaskThatMovedUnderItsWorkerIsSettledWhereItIs) {
  const auto store = open(kMonths);
  const auto another = open(kMonths);
  const Ticket running = claim(*store, insert(*store, a_task()), 90 * 24h);
  clock.set_wall(day(2025, 3, 5));
  EXPECT_EQ(moved(keep(*another)), 1);
  const Renewal renewal{running, 24h};
  EXPECT_THAT(store->renew({&renewal, 1}).value().applied, ElementsAre(true));
  EXPECT_TRUE(finish(*store, running));
  EXPECT_THAT(ids(*store), IsEmpty());
}

TEST_P(Periods, AMovedTaskCanBeCancelled) {
  const auto store = open(kMonths);
  const Inserted task = insert(*store, a_task().key("pay:42"));
  clock.set_wall(day(2025, 3, 5));
  keep(*store);
  EXPECT_THAT(store->end(test::endings({&task.id, 1})).value().applied, ElementsAre(true));
  EXPECT_EQ(find(*store, task.id)->info.outcome, Outcome::cancelled);
  EXPECT_TRUE(insert(*store, a_task().key("pay:42")).created);
}

TEST_P(Periods, AClockThatWasAheadForAWhileLosesNothing) {
  const auto store = open(kMonths);
  const Inserted before = insert(*store, a_task());
  clock.set_wall(day(2025, 2, 10));
  const Inserted ahead = insert(*store, a_task());
  clock.set_wall(day(2025, 1, 16));
  keep(*store);
  EXPECT_THAT(due(*store), ::testing::UnorderedElementsAre(before.id));
  EXPECT_TRUE(find(*store, ahead.id));
  clock.set_wall(day(2025, 2, 10));
  EXPECT_THAT(due(*store), ::testing::UnorderedElementsAre(before.id, ahead.id));
}

TEST_P(Periods, SeveralKeepersAtOnceMoveEachTaskOnce) {
  const auto store = open(kMonths);
  std::vector<NewTask> tasks;
  for (int i = 0; i < 3000; ++i) tasks.push_back(a_task());
  ASSERT_TRUE(store->insert(tasks));
  const auto before = ids(*store);
  clock.set_wall(day(2025, 3, 5));
  std::vector<std::unique_ptr<Store>> stores;
  for (int i = 0; i < 3; ++i) stores.push_back(open(kMonths));
  test::together(3, [&](int i) {
    for (int tries = 0; tries < 100; ++tries) {
      const auto report = stores[static_cast<std::size_t>(i)]->keep();
      if (report && !report->more) return true;
    }
    return false;
  });
  keep(*store);
  EXPECT_EQ(ids(*store), before);
  EXPECT_EQ(rows("retry_task_key"), 3000);
}

// Cut off for good after every so many bytes, which is what the server sees of a keeper that is killed there.
TEST_P(Periods, AKeeperKilledAnywhereHasLostAndDoubledNothing) {
  const auto store = open(kMonths);
  for (int i = 0; i < 20; ++i) insert(*store, a_task());
  const auto before = ids(*store);
  clock.set_wall(day(2025, 3, 5));
  test::CuttingProxy proxy{test::shared_server_port(GetParam())};
  int killed = 0;
  for (std::size_t bytes = 0;; bytes += 40) {
    proxy.accept_new();
    const auto doomed = open(kMonths, std::chrono::days{30}, proxy.port());
    proxy.refuse_new();
    proxy.cut_after(test::Direction::to_server, bytes);
    const auto report = doomed->keep();
    const bool survived = report && !report->more;
    ASSERT_EQ(ids(*store), before) << "cut after " << bytes;
    if (survived) break;
    ++killed;
  }
  EXPECT_GT(killed, 20);
  keep(*store);
  EXPECT_EQ(ids(*store), before);
  EXPECT_EQ(due(*store).size(), before.size());
}

TEST_P(Periods, AMonthOfDaysLeavesFewTablesAndEveryUnfinishedTask) {
  const auto store = open(Layout::period(PeriodLength::day), std::chrono::days{2});
  std::set<TaskId> unfinished;
  clock.set_wall(day(2028, 2, 10));  // with a leap day
  for (int i = 0; i < 31; ++i) {
    for (int number = 0; number < 6; ++number) {
      const Inserted task = insert(*store, a_task());
      if (number == 0) {
        unfinished.insert(task.id);
      } else {
        ASSERT_TRUE(finish(*store, claim(*store, task, 1h)));
      }
    }
    clock.advance(24h);
    keep(*store);
  }
  const auto left = ids(*store);
  EXPECT_EQ(std::set<TaskId>(left.begin(), left.end()), unfinished);
  const auto session = connect_session(GetParam(), database.name());
  std::vector<std::string> tables = session->schema().tables();
  std::erase_if(tables, [](const std::string& name) { return !name.starts_with("retry_task_2028"); });
  EXPECT_LE(tables.size(), 6U);
}

TEST_P(Periods, EachTableIsShownWithItsStateAndItsRecentChanges) {
  const auto store = open(kMonths);
  clock.set_wall(day(2025, 1, 30) + 1h);
  keep(*store);
  const auto state_of = [&](const std::string& name) {
    const auto tables = store->tables().value();
    const auto table = std::ranges::find(tables, name, &TableInfo::name);
    return table == tables.end() ? std::nullopt : std::optional{table->state};
  };
  EXPECT_EQ(state_of("retry_task_202501_0"), TableInfo::State::in_use);
  EXPECT_EQ(state_of("retry_task_202502_1"), TableInfo::State::ahead);
  EXPECT_EQ(state_of("retry_meta"), TableInfo::State::other);
  insert(*store, a_task());
  clock.set_wall(day(2025, 3, 5));
  EXPECT_EQ(state_of("retry_task_202501_0"), TableInfo::State::leaving);
  keep(*store);
  EXPECT_EQ(state_of("retry_task_202501_0"), std::nullopt);
  EXPECT_EQ(sql->run("SELECT sum(row_count) FROM retry_keeper_log WHERE action = 'emptied'"), "1");
  EXPECT_EQ(sql->run("SELECT count(*) FROM retry_keeper_log WHERE action = 'dropped' AND table_name LIKE "
                     "'retry_task_202501_%'"),
            "2");
}

TEST_P(Periods, AManuallyDroppedTableIsCreatedAgainAndTasksOfOtherTablesContinue) {
  const auto drop = [&](const std::string& month) {
    for (const char* part : {"_0", "_1"}) sql->run("DROP TABLE IF EXISTS retry_task_" + month + part);
  };
  const auto store = open(kMonths);
  insert(*store, a_task().key("lost with its table"));
  clock.set_wall(day(2025, 2, 2));
  const Inserted kept = insert(*store, a_task().key("pay:42"));
  drop("202501");
  EXPECT_THAT(due(*store), ElementsAre(kept.id));
  EXPECT_TRUE(finish(*store, claim(*store, kept, 1min)));

  drop("202502");
  const Inserted next = insert(*store, a_task().key("pay:42"));
  EXPECT_THAT(due(*store), ElementsAre(next.id));
}

TEST_P(Periods, AnotherLayoutIsRefusedWithTheRightOne) {
  open(kMonths);
  try {
    open(Layout::hash(2));
    FAIL() << "opened";
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("set layout=period(month,2)"));
  }
}

}  // namespace
}  // namespace easyretry::storage
