// Marks of requeued tasks on database servers: tables that an earlier release has made, and connections that are cut.

#include <algorithm>

#include "storage/history.h"
#include "support/cutting_proxy.h"
#include "support/endings.h"
#include "support/together.h"
#include "unit/servers/server_stores.h"

namespace easyretry::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RequeueOnServers : public ServerStores {
 protected:
  // A task that failed for good.
  TaskId failed(Store& store) {
    Settlement end;
    end.ticket = claim(store, insert(store, a_task()), 1h);
    end.outcome = Outcome::exhausted;
    EXPECT_TRUE(store.settle({&end, 1}).value().applied.at(0));
    return end.ticket.id;
  }
  static std::optional<TaskId> requeue(Store& store, TaskId id) { return store.requeue({&id, 1}).value().at(0); }
  static std::vector<TaskId> history(Store& store, bool requeued = false) {
    std::vector<TaskId> ids;
    const auto records = store.list({.finished = true, .requeued = requeued}).value();
    for (const TaskRecord& record : records) ids.push_back(record.info.id);
    return ids;
  }
  bool has_marks(const std::string& table) {
    return sql->run("SELECT count(*) FROM information_schema.columns WHERE table_name = '" + table +
                    "' AND column_name = 'requeued_as'" +
                    (GetParam() == ServerKind::postgres ? "" : " AND table_schema = DATABASE()")) == "1";
  }
  // As the releases before made them.
  void make_old(const std::string& table) { sql->run("ALTER TABLE " + table + " DROP COLUMN requeued_as"); }

  const std::string january = history_table(day(2025, 1, 15));
  const std::string february = history_table(day(2025, 2, 15));
};
ON_EACH_SERVER(RequeueOnServers);

TEST_P(RequeueOnServers, TablesOfAnEarlierReleaseAreCompletedByTheStoresThatOpenThem) {
  for (const Layout layout : {Layout::single(), Layout::hash(2), Layout::period(PeriodLength::month)}) {
    std::vector<TaskId> ended;
    clock.set_wall(day(2025, 1, 15));
    {
      const auto store = open(layout);
      ended.push_back(failed(*store));
      clock.set_wall(day(2025, 2, 15));
      ended.push_back(failed(*store));
    }
    make_old(january);
    make_old(february);
    const auto stores = test::together(4, [&](int) { return open(layout); });
    EXPECT_TRUE(has_marks(january) && has_marks(february));
    EXPECT_EQ(history(*stores[0]), ended);
    for (std::size_t i = 0; i < ended.size(); ++i) {
      const auto started = requeue(*stores[i], ended[i]);
      ASSERT_TRUE(started);
      EXPECT_EQ(find(*stores[3], ended[i])->info.requeued_as, started);
      EXPECT_FALSE(requeue(*stores[2], ended[i]));
    }
    EXPECT_THAT(history(*stores[1]), IsEmpty());
    EXPECT_EQ(history(*stores[1], true), ended);
    for (const std::string& table : connect_session(GetParam(), database.name())->schema().tables()) {
      sql->run("DROP TABLE " + table);
    }
  }
}

// An instance of an earlier release that works beside makes the table of the next month without the column.
TEST_P(RequeueOnServers, ATableThatAnEarlierReleaseMakesMeanwhileIsCompletedWhenItIsMet) {
  const auto store = open(Layout::single());
  const TaskId ended = failed(*store);
  const auto become_old = [&](const std::string& from, const std::string& to) {
    sql->run("ALTER TABLE " + from + " RENAME TO " + to);
    make_old(to);
  };
  become_old(january, "retry_task_history_202411");
  EXPECT_THAT(history(*store), ElementsAre(ended)) << "by a list";
  become_old("retry_task_history_202411", "retry_task_history_202410");
  const auto started = requeue(*store, ended);
  ASSERT_TRUE(started) << "and by a requeue, inside its transaction";
  EXPECT_EQ(find(*store, ended)->info.requeued_as, started);
  EXPECT_THAT(history(*store), IsEmpty());
}

TEST_P(RequeueOnServers, ACutOffRequeueHasMarkedAndStartedATaskOrDoneNeither) {
  const auto store = open(Layout::single());
  test::CuttingProxy proxy{test::shared_server_port(GetParam())};
  int cut = 0;
  for (std::size_t bytes = 0;; bytes += 199) {
    ASSERT_LT(bytes, 20'000U);
    const TaskId ended = failed(*store);
    proxy.accept_new();
    const auto doomed = open(Layout::single(), std::chrono::days{30}, proxy.port());
    EXPECT_TRUE(doomed->list({.finished = true, .limit = 1}));
    proxy.die_after(test::Direction::to_server, bytes);
    const auto reply = doomed->requeue({&ended, 1});
    // Waits for what the server still does of it. Starts the task if the other has not.
    const auto again = requeue(*store, ended);
    const auto live = ids(*store);
    ASSERT_THAT(live, SizeIs(1)) << "cut after " << bytes;
    EXPECT_EQ(find(*store, ended)->info.requeued_as, live[0]);
    EXPECT_EQ(again.value_or(live[0]), live[0]);
    EXPECT_EQ(reply ? reply->at(0) : live[0], live[0]);
    store->end(test::endings(live)).value();
    if (reply) break;
    ++cut;
  }
  EXPECT_GT(cut, 5);
}

}  // namespace
}  // namespace easyretry::storage
