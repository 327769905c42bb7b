// For backends that outlive their process: another process continues where the first one stopped.

#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

TEST_P(DurableStore, AcknowledgedTasksAreThereAfterReopening) {
  const TaskRecord pending = insert(a_task().payload(std::string{"a\0b", 3}).business("order", "42"));
  const TaskRecord held = running(a_task());
  const TaskRecord done = finished(a_task());

  reopen();

  for (const TaskRecord& before : {pending, held, done}) expect_same(again(before), before);
  EXPECT_EQ(count({}), 2);
  EXPECT_EQ(count({.finished = true}), 1);
}

TEST_P(DurableStore, ALeaseOutlivesTheProcessThatHeldIt) {
  const TaskRecord held = running(a_task());
  reopen();
  EXPECT_FALSE(try_claim(ticket(held), "successor"));
  clock().advance(kLease);
  EXPECT_EQ(claim(held, "successor").info.crashes, 1);
}

TEST_P(DurableStore, AWorkerSettlesThroughAReopenedStore) {
  const TaskRecord held = running(a_task());
  reopen();
  EXPECT_TRUE(settle(finish(held)));
}

TEST_P(DurableStore, KeysStayUniqueAcrossReopening) {
  const TaskRecord live = insert(a_task().key("pay:42"));
  reopen();
  const Inserted again = put(a_task().key("pay:42"));
  EXPECT_FALSE(again.created);
  EXPECT_EQ(again.id, live.info.id);
}

TEST_P(DurableStore, ManyReopeningsInOneMillisecondGiveNoIdTwice) {
  start({.total_shards = 1});
  for (int i = 0; i < 10; ++i) {
    insert_many(50, a_task());
    reopen();
  }
  EXPECT_EQ(count({}), 500);
}

}  // namespace
}  // namespace easyretry::test
