// Imports from mx-rmq into a store, interrupted and repeated.

#include <easyretry/easyretry.h>

#include "support/endings.h"
#include "support/eventually.h"
#include "unit/mxrmq/import_support.h"

struct Parcel {
  int n = 0;
};
EASYRETRY_JSON(Parcel, n)

namespace easyretry::mxrmq {
namespace {

TEST_F(AnImport, AMessageBecomesATaskWithItsRules) {
  const auto failed_once = [](Meta& meta) {
    meta.retry_count = 1;
    meta.max_retries = 5;
    meta.retry_delays = {10, 20};
    meta.last_error = "boom";
  };
  ASSERT_TRUE(produce_delayed(link, with("m1", failed_once), 1h));
  EXPECT_EQ(imported().moved, 1);
  const auto all = tasks();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].info.key, "m1");
  EXPECT_EQ(all[0].info.handler, "orders");
  EXPECT_EQ(all[0].payload, R"([{"n":1}])");
  EXPECT_EQ(all[0].info.attempts, 1);
  EXPECT_EQ(all[0].info.last_error, "boom");
  EXPECT_EQ(all[0].rules.max_attempts, 5);
  EXPECT_EQ(all[0].rules.backoff, "ladder steps=10s,20s jitter=none");
  EXPECT_EQ(all[0].info.next_at.time_since_epoch().count(), clock.millis() + 3'600'000);
  expect_nothing_left();
}

TEST_F(AnImport, AtLeastOneAttemptIsLeft) {
  ASSERT_TRUE(produce(link, with("m1", [](Meta& meta) { meta.max_retries = 0; }), 24h));
  imported();
  EXPECT_EQ(tasks().at(0).rules.max_attempts, 1);
}

TEST_F(AnImport, TakesPendingAndDelayedOfAllTopicsAndLeavesTheRest) {
  for (int i = 0; i < 250; ++i) produced("p" + std::to_string(i));
  ASSERT_TRUE(produce_delayed(link, a_message("d"), 5s));
  Message other = a_message("o");
  other.topic = "other";
  ASSERT_TRUE(produce(link, other, 24h));
  produced("dead");
  run({"LMOVE", "shop:orders:pending", "shop:orders:pending", "LEFT", "RIGHT"});
  EXPECT_TRUE(buried(claimed()));
  produced("held");
  run({"LMOVE", "shop:orders:pending", "shop:orders:pending", "LEFT", "RIGHT"});
  python_takes();
  python_leases("held", 1000 * 24h);

  const ImportPlan plan = plan_import(url());
  EXPECT_EQ(plan.pending.at("orders"), 250);
  EXPECT_EQ(plan.pending.at("other"), 1);
  EXPECT_EQ(plan.delayed, 1);
  EXPECT_EQ(plan.in_flight, 1);
  EXPECT_EQ(plan.dead, 1);
  EXPECT_EQ(imported().moved, 252);
  EXPECT_EQ(store->count({.name_space = "default"}).value(), 252);
  EXPECT_THAT(list("orders:processing"), ElementsAre("held"));
  EXPECT_THAT(list("dlq"), ElementsAre("dead"));
}

TEST_F(AnImport, ALiveWorkerKeepsItsMessagesEvenIfTheyArePendingTwice) {
  produced();
  const LeasedMessage held = claimed("alive", 1h);
  run({"LPUSH", "shop:orders:pending", "m1"});
  EXPECT_EQ(imported().moved, 0);
  EXPECT_TRUE(completed(held.lease));
  expect_nothing_left();
}

TEST_F(AnImport, MessagesOfADeadWorkerAreMovedToo) {
  produced();
  claimed("dead", 1ms);
  run({"ZADD", "shop:expires", "1", "m1"});
  EXPECT_EQ(imported().moved, 1);
}

TEST_F(AnImport, ItsTimeToLiveDoesNotKeepAPendingMessageBack) {
  produced();
  run({"ZADD", "shop:expires", "1", "m1"});
  EXPECT_EQ(imported().moved, 1);
  expect_nothing_left();
}

TEST_F(AnImport, UnreadableMessagesAreSetAside) {
  run({"HSET", "shop:payloads", "bad", "{broken", "bad:queue", "shop:orders"});
  run({"LPUSH", "shop:orders:pending", "bad"});
  produced();
  const ImportReport report = imported();
  EXPECT_EQ(report.moved, 1);
  EXPECT_EQ(report.unreadable, 1);
  EXPECT_THAT(list("errors"), ElementsAre("bad"));
}

// Interrupted after the task was stored and before the message was removed from the queue.
class AnInterruptedImport : public AnImport {
 protected:
  void cut_off_before_removal(const std::string& id) {
    const Reply taken = link.run(scripts::take, kTopic, {"import-killed", "300000", "10"});
    ASSERT_EQ(taken.text(0), id);
    NewTask task;
    task.name_space = "default";
    task.key = id;
    task.handler = "orders";
    task.payload = R"([{"n":1}])";
    ASSERT_TRUE(store->insert({&task, 1}));
  }
  using NewTask = task::NewTask;
};

TEST_F(AnInterruptedImport, ContinuesAtOnce) {
  ASSERT_TRUE(produce_delayed(link, a_message(), 1h));
  const Reply taken = link.run(scripts::take, kTopic, {"import-killed", "300000", "10"});
  ASSERT_EQ(taken.text(0), "m1");
  EXPECT_EQ(number({"ZCARD", "shop:delays"}), 0);
  EXPECT_EQ(imported().moved, 1);
  EXPECT_EQ(tasks().at(0).info.next_at.time_since_epoch().count(), clock.millis() + 3'600'000) << "when it was to run";
  expect_nothing_left();
}

TEST_F(AnInterruptedImport, DoesNotStoreLiveTasksTwice) {
  produced();
  cut_off_before_removal("m1");
  EXPECT_EQ(imported().moved, 1);
  EXPECT_THAT(tasks(), SizeIs(1));
  expect_nothing_left();
}

TEST_F(AnInterruptedImport, DoesNotStoreTasksAgainThatHaveEndedMeanwhile) {
  produced();
  cut_off_before_removal("m1");
  const auto id = tasks().at(0).info.id;
  ASSERT_TRUE(store->end(test::endings({&id, 1})));
  EXPECT_EQ(imported().moved, 1);
  EXPECT_THAT(tasks(), IsEmpty());
  expect_nothing_left();
}

TEST_F(AnInterruptedImport, NeverContinuedReturnsTheMessage) {
  produced();
  link.run(scripts::take, kTopic, {"import-killed", "300000", "10"});
  clock.move(1h);
  const ReapedBatch reaped = reap(link, "reaper", 1min, 10);
  ASSERT_THAT(reaped.messages, SizeIs(1));
  EXPECT_TRUE(retried(reaped.messages[0].taken, 0ms));
  promote(link);
  EXPECT_TRUE(completed(claimed().lease));
  EXPECT_EQ(number({"EXISTS", "shop:cxx:import"}), 0);
}

TEST_F(AnImport, AnEngineRunsTheMovedTasks) {
  for (int i = 0; i < 3; ++i) produced(std::to_string(i));
  EXPECT_EQ(imported().moved, 3);
  store.reset();
  Engine engine{folder.sqlite_url()};
  std::atomic<int> sum = 0;
  auto handler = engine.retryable("orders", [&](const Parcel& parcel) { sum += parcel.n; });
  engine.start();
  EXPECT_TRUE(test::eventually([&] { return engine.stats().succeeded == 3; }));
  EXPECT_EQ(sum, 3);
}

}  // namespace
}  // namespace easyretry::mxrmq
