// Results that are kept with history for a while.

#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

constexpr auto kReceipt = R"({"receipt":"r-17"})";

Settlement with_result(Settlement end, std::string result, Millis keep) {
  end.result = std::move(result);
  end.keep_result = keep;
  return end;
}

void keep(storage::Store& store) {
  while (must(store.keep()).more) {
  }
}

TEST_P(StoreConformance, AResultThatIsKeptIsFoundWithItsTask) {
  const TaskRecord claimed = running(a_task());
  const TaskRecord other = running(a_task().key("other"));
  const std::vector both{with_result(finish(claimed), kReceipt, 1h), finish(other)};
  EXPECT_THAT(must(store().settle(both)).applied, ElementsAre(true, true));
  EXPECT_EQ(again(claimed).result, kReceipt);
  EXPECT_EQ(again(claimed).info.outcome, Outcome::succeeded);
  EXPECT_EQ(again(other).result, "");
}

TEST_P(StoreConformance, AResultIsNotKeptUnlessThatIsAskedFor) {
  const TaskRecord claimed = running(a_task());
  EXPECT_TRUE(settle(advance(claimed, Stage::on_success, Outcome::succeeded, kReceipt)));
  EXPECT_EQ(again(claimed).result, kReceipt) << "for its callback";
  EXPECT_TRUE(settle(finish(claim(again(claimed)))));
  EXPECT_EQ(again(claimed).result, "");
}

TEST_P(StoreConformance, AResultGoesWhenItsTimeIsOverAndItsTaskStays) {
  const TaskRecord claimed = running(a_task());
  EXPECT_TRUE(settle(with_result(finish(claimed), kReceipt, 1h)));
  const TaskRecord longer = running(a_task().key("longer"));
  EXPECT_TRUE(settle(with_result(finish(longer), kReceipt, 2h)));
  clock().advance(1h - 1ms);
  keep(store());
  EXPECT_EQ(again(claimed).result, kReceipt);
  clock().advance(1ms);
  keep(store());
  EXPECT_EQ(again(claimed).result, "");
  EXPECT_EQ(again(claimed).info.outcome, Outcome::succeeded);
  EXPECT_EQ(again(longer).result, kReceipt);
}

TEST_P(StoreConformance, ManyResultsGo) {
  std::vector<Settlement> all;
  for (const TaskRecord& claimed : claim_all(insert_many(1200, a_task()))) {
    all.push_back(with_result(finish(claimed), kReceipt, 1min));
  }
  must(store().settle(all));
  clock().advance(1h);
  keep(store());
  for (const Settlement& one : all) EXPECT_EQ(record(one.ticket.id).result, "");
}

TEST_P(StoreConformance, ASettlementThatComesTooLateKeepsNoResult) {
  const TaskRecord claimed = running(a_task());
  EXPECT_TRUE(settle(finish(claimed)));
  EXPECT_FALSE(settle(with_result(finish(claimed), kReceipt, 1h)));
  EXPECT_EQ(again(claimed).result, "");
}

TEST_P(StoreConformance, AResultMayHaveAnyBytes) {
  const TaskRecord claimed = running(a_task());
  const std::string bytes{"\0'\\\xff\"{rows}$1", 13};
  EXPECT_TRUE(settle(with_result(finish(claimed), bytes, 1h)));
  EXPECT_EQ(again(claimed).result, bytes);
}

TEST_P(StoreConformance, ATaskThatAUserEndsMayKeepAResult) {
  const TaskRecord waiting = insert(a_task());
  EXPECT_TRUE(end(waiting.info.id, {.outcome = Outcome::succeeded, .result = kReceipt, .keep_result = 1h}));
  EXPECT_EQ(again(waiting).result, kReceipt);
  const TaskRecord claimed = running(a_task().key("running"));
  EXPECT_TRUE(end(claimed.info.id, {.outcome = Outcome::succeeded, .result = kReceipt}));
  EXPECT_EQ(again(claimed).result, "");
}

TEST_P(StoreConformance, ARequeuedTaskLeavesItsResultBehind) {
  const TaskRecord claimed = running(a_task());
  EXPECT_TRUE(settle(with_result(finish(claimed), kReceipt, 1h)));
  const TaskId fresh = requeue(claimed.info.id).value();
  EXPECT_EQ(record(fresh).result, "");
  EXPECT_EQ(again(claimed).result, kReceipt);
}

TEST_P(StoreConformance, NoResultIsKeptOfATaskThatHistoryDoesNotKeep) {
  start({.history = History::none});
  const TaskRecord claimed = running(a_task());
  EXPECT_TRUE(settle(with_result(finish(claimed), kReceipt, 1h)));
  EXPECT_FALSE(find(claimed.info.id));
}

// As of a handler with `keep: none` and `keep_results`. A result that stayed behind would never be removed with its
// task.
TEST_P(StoreConformance, ATaskThatIsNotKeptKeepsNoResult) {
  const TaskRecord claimed = running(a_task());
  Settlement settlement = with_result(finish(claimed), kReceipt, 1h);
  settlement.keep = false;
  EXPECT_TRUE(settle(settlement));
  EXPECT_FALSE(find(claimed.info.id));
  const TaskRecord kept = running(a_task().key("kept"));
  EXPECT_TRUE(settle(with_result(finish(kept), kReceipt, 1h)));
  EXPECT_EQ(again(kept).result, kReceipt);
}

TEST_P(DurableStore, AKeptResultIsThereAfterARestart) {
  const TaskRecord claimed = running(a_task());
  EXPECT_TRUE(settle(with_result(finish(claimed), kReceipt, 1h)));
  reopen();
  EXPECT_EQ(again(claimed).result, kReceipt);
}

}  // namespace
}  // namespace easyretry::test
