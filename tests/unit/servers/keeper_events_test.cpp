// Listeners hear of changes that the keeper makes to tables of a real server.

#include "engine/keeper.h"
#include "unit/servers/server_stores.h"

namespace easyretry::storage {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

class KeeperEvents : public ServerStores {
 protected:
  void keep(Store& store) {
    heard.clear();
    engine::Context context{store, clock, {}, "owner", 1};
    context.events.add(
        [this](const Event& event) {
          heard.push_back(std::string{to_string(event.kind)} + " " + event.table);
          moved += event.message.starts_with("2 unfinished tasks") ? 1 : 0;
        },
        Delivery::direct);
    engine::Keeper keeper{context};
    while (keeper.step().wake == Instant::min()) {
    }
  }
  std::vector<std::string> heard;
  int moved = 0;
};
ON_EACH_SERVER(KeeperEvents);

TEST_P(KeeperEvents, TellOfTablesMadeEmptiedAndDropped) {
  const auto store = open(Layout::period(PeriodLength::month));
  for (int i = 0; i < 2; ++i) insert(*store, a_task());
  keep(*store);
  EXPECT_THAT(heard, IsEmpty());
  clock.set_wall(day(2025, 1, 30) + 1h);
  keep(*store);
  EXPECT_THAT(heard, ElementsAre("table made retry_task_202502_0"));
  clock.set_wall(day(2025, 3, 5));
  keep(*store);
  EXPECT_THAT(heard, IsSupersetOf({"table made retry_task_202503_0", "table emptied retry_task_202501_0",
                                   "table dropped retry_task_202501_0"}));
  EXPECT_EQ(moved, 1);
  keep(*store);
  EXPECT_THAT(heard, IsEmpty()) << "what is there is not made again";
}

TEST_P(KeeperEvents, TellOfAMonthOfHistoryThatIsDropped) {
  const auto store = open(Layout::single());
  const Inserted task = insert(*store, a_task());
  ASSERT_TRUE(finish(*store, claim(*store, task, 1h)));
  clock.set_wall(day(2025, 6, 5));
  keep(*store);
  EXPECT_THAT(heard, Contains("history dropped retry_task_history_202501"));
}

// Without its log the keeper stops after the first month; that it was dropped is told all the same.
TEST_P(KeeperEvents, ReportTheWorkThatWasDoneBeforeAFailure) {
  const auto store = open(Layout::single());
  for (const int month : {1, 2}) {
    clock.set_wall(day(2025, month, 10));
    ASSERT_TRUE(finish(*store, claim(*store, insert(*store, a_task()), 1h)));
  }
  clock.set_wall(day(2025, 8, 5));
  sql->run("DROP TABLE retry_keeper_log");
  const auto report = store->keep().value();
  ASSERT_EQ(report.steps.size(), 1U);
  EXPECT_EQ(report.steps[0].kind, KeepStep::Kind::history_dropped);
  EXPECT_TRUE(report.more);
}

}  // namespace
}  // namespace easyretry::storage
