// When a reshard is refused, and the errors of instances with another number of shards.

#include <future>

#include "unit/servers/resharded_stores.h"

namespace easyretry::storage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ReshardRefusals : public ReshardedStores {};
ON_EACH_SERVER(ReshardRefusals);

TEST_P(ReshardRefusals, APlanChangesNothing) {
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

TEST_P(ReshardRefusals, TheSameNumberChangesNothing) {
  const auto store = open(Layout::single(), 64);
  claim(*store, insert(*store, a_task()), 1h);
  EXPECT_TRUE(reshard(64).nothing_to_do());
}

TEST_P(ReshardRefusals, WhileATaskIsLeasedItIsRefusedAndNothingIsChanged) {
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(to_text(layout));
    start_afresh();
    const auto store = open(layout, 64);
    ASSERT_TRUE(store->insert(many(50)));
    ASSERT_NE(claim(*store, insert(*store, a_task()), 1min), Ticket{});
    EXPECT_THAT(refusal(32), AllOf(HasSubstr("1 task is running, on worker"), HasSubstr("stop all instances")));
    EXPECT_EQ(number(), "64");
    EXPECT_EQ(misnumbered(layout, 64), 0);
    clock.advance(1min);
    EXPECT_EQ(refusal(32), "accepted");
  }
}

TEST_P(ReshardRefusals, AnImpossibleNumberIsRefusedWithAPossibleOne) {
  open(Layout::hash(4), 64);
  EXPECT_THAT(refusal(0), HasSubstr("1 to 4096"));
  EXPECT_THAT(refusal(-3), HasSubstr("1 to 4096"));
  EXPECT_THAT(refusal(4097), HasSubstr("1 to 4096"));
  EXPECT_THAT(refusal(30), HasSubstr("the 4 tables of hash(4) do not divide 30 shards; use 28 or 32"));
  EXPECT_THAT(refusal(3), HasSubstr("use 4"));
  EXPECT_EQ(number(), "64");
}

TEST_P(ReshardRefusals, AnEmptyDatabaseIsReportedAndStaysEmpty) {
  EXPECT_THAT(refusal(32), HasSubstr("there is no EasyRetry store"));
  EXPECT_FALSE(sql::server_settings(options_for(Layout::single(), 64)));
  EXPECT_THAT(connect_session(GetParam(), database.name())->schema().tables(), IsEmpty());
}

TEST_P(ReshardRefusals, AnInstanceWithAnotherNumberIsRefusedWithTheCommandThatHelps) {
  open(Layout::single(), 64);
  EXPECT_THAT(refusal_to_open(Layout::single(), 128),
              AllOf(HasSubstr("set shards=64"), HasSubstr("`easyretry reshard --store … --shards 128`")));
  reshard(128);
  EXPECT_EQ(refusal_to_open(Layout::single(), 128), "accepted");
  EXPECT_THAT(refusal_to_open(Layout::single(), 64), HasSubstr("set shards=128"));
}

TEST_P(ReshardRefusals, AnInstanceWithMoreTablesIsRefusedWithTheSplitThatHelps) {
  open(Layout::hash(4), 64);
  EXPECT_THAT(refusal_to_open(Layout::hash(8), 64),
              AllOf(HasSubstr("set layout=hash(4)"), HasSubstr("`easyretry split --store … --to 8`")));
  EXPECT_THAT(refusal_to_open(Layout::hash(2), 64), ::testing::Not(HasSubstr("easyretry split")));
}

TEST_P(ReshardRefusals, NoInstanceOpensUntilItIsFinished) {
  open(Layout::single(), 64);
  set_number("64>32");
  for (const int shards : {64, 32}) {
    EXPECT_THAT(refusal_to_open(Layout::single(), shards),
                AllOf(HasSubstr("from 64 to 32"), HasSubstr("`easyretry reshard --store … --shards 32`")));
  }
  EXPECT_THAT(refusal(16), HasSubstr("a change to 32 shards has begun"));
  EXPECT_TRUE(reshard(32).begun);
  EXPECT_EQ(refusal_to_open(Layout::single(), 32), "accepted");
}

TEST_P(ReshardRefusals, ATableSplitGoesFirst) {
  open(Layout::hash(4), 64);
  sql->run("UPDATE retry_meta SET value = 'hash(4)>hash(8)' WHERE name = 'layout'");
  EXPECT_THAT(refusal(32), HasSubstr("`easyretry split --store … --to 8`"));
  EXPECT_EQ(number(), "64");
}

TEST_P(ReshardRefusals, ASplitDoesNotBeginMeanwhile) {
  const auto store = open(Layout::hash(4), 64);
  set_number("64>12");
  const auto split = store->split({.tables = 8});
  ASSERT_FALSE(split);
  EXPECT_THAT(split.error().detail, HasSubstr("easyretry reshard"));
  EXPECT_EQ(sql->run("SELECT value FROM retry_meta WHERE name = 'layout'"), "hash(4)");
}

TEST_P(ReshardRefusals, AnInstanceThatWasLeftRunningNoticesAndStoresNothingMore) {
  const auto stale = open_watchful(Layout::single(), 64);
  reshard(16);
  const auto loaded =
      stale->load({.name_space = test::kNamespace, .from = std::vector<ShardCursor>{{.shard = ShardId{1}}}});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().detail, HasSubstr("set shards=16"));
  const NewTask task = a_task();
  const auto inserted = stale->insert({&task, 1});
  ASSERT_FALSE(inserted);
  EXPECT_EQ(inserted.error().code, Errc::unavailable);
  EXPECT_THAT(inserted.error().detail, HasSubstr("set shards=16"));
  EXPECT_EQ(rows("retry_task"), 0);
}

// A process that only stores tasks never calls load(), which is where other instances notice it.
TEST_P(ReshardRefusals, AnInstanceThatOnlyStoresNoticesToo) {
  const auto stale = open_watchful(Layout::hash(4), 64);
  insert(*stale, a_task());
  reshard(16);
  const NewTask task = a_task();
  const auto inserted = stale->insert({&task, 1});
  ASSERT_FALSE(inserted);
  EXPECT_THAT(inserted.error().detail, HasSubstr("set shards=16"));
}

// The row stays in the inbox for an instance that can store its task.
TEST_P(ReshardRefusals, AnInstanceThatNoticedRefusesNoRowOfTheInbox) {
  const auto stale = open_watchful(Layout::single(), 64);
  sql->run("INSERT INTO retry_inbox (method_name, params_json) VALUES ('pay', '[]')");
  reshard(16);
  ASSERT_FALSE(stale->load({.name_space = test::kNamespace, .from = std::vector<ShardCursor>{{.shard = ShardId{1}}}}));
  const std::vector<std::string> handlers{"pay"};
  const NewTask task = a_task();
  EXPECT_FALSE(stale->take_in({"default", handlers}, [&](const InboxRow&) { return task; }));
  EXPECT_EQ(sql->run("SELECT count(*) FROM retry_inbox WHERE refused_at IS NULL"), "1");
}

TEST_P(ReshardRefusals, RowsStoredBeforeItNoticedAreRepairedByTheSameCommand) {
  const auto stale = open(Layout::single(), 64);
  reshard(16);
  ASSERT_TRUE(stale->insert(many(100)));
  EXPECT_GT(misnumbered(Layout::single(), 16), 0);
  EXPECT_FALSE(reshard(16).nothing_to_do());
  EXPECT_EQ(misnumbered(Layout::single(), 16), 0);
  EXPECT_EQ(number(), "16");
  EXPECT_EQ(due(*open(Layout::single(), 16)).size(), 100U);
}

// A reshard that is stopped while another one finishes must not continue with outdated knowledge.
TEST_P(ReshardRefusals, OneThatWasOvertakenChangesNothingMore) {
  const auto store = open(Layout::hash(4), 64);
  ASSERT_TRUE(store->insert(many(200)));
  const auto overtake = [this](const ReshardProgress& progress) {
    if (progress.table == 1) set_number("64");
  };
  try {
    sql::reshard_server(options_for(Layout::hash(4), 64), {.shards = 8, .progress = overtake});
    FAIL() << "went on";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.code(), Errc::conflict);
  }
  EXPECT_EQ(number(), "64");
  EXPECT_EQ(sql->run("SELECT count(*) FROM retry_task_1 WHERE shard <> (id >> 10) & 4095"), "0");
}

TEST_P(ReshardRefusals, TheCountIsNotChangedWhileATransactionHoldsIt) {
  open(Layout::single(), 64);
  const auto holding = connect_session(GetParam(), database.name());
  const auto changing = connect_session(GetParam(), database.name());
  holding->begin(Promise::kept);
  holding->schema().hold_layout();
  auto changed =
      std::async(std::launch::async, [&] { return changing->schema().change_meta("total_shards", "64", "64>32"); });
  EXPECT_EQ(changed.wait_for(300ms), std::future_status::timeout);
  holding->commit();
  EXPECT_TRUE(changed.get());
  EXPECT_EQ(number(), "64>32");
}

}  // namespace
}  // namespace easyretry::storage
