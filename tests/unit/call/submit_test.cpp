// Submitting tasks: keys, due times, batches.

#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

TEST_F(EngineTest, KeepsOneLiveTaskPerKey) {
  auto pay = engine.retryable("pay", [&](const Order&) { ++calls; });
  const TaskId first = pay.submit(Order{"7", 1});
  EXPECT_EQ(pay.submit(Order{"7", 1}), first) << "equal arguments are the same task";
  EXPECT_NE(pay.submit(Order{"7", 2}), first);
  EXPECT_EQ(pay.with({.key = "a"}).submit(Order{"8"}), pay.with({.key = "a"}).submit(Order{"9"}));
  engine.drain();
  EXPECT_EQ(calls, 3);
  EXPECT_NE(pay.submit(Order{"7", 1}), first) << "a finished task does not block its key";
}

TEST_F(EngineTest, RunsNothingBeforeItsTime) {
  auto pay = engine.retryable("pay", [&](int) { ++calls; });
  pay.submit_after(10s, 1);
  pay.submit_at(engine.clock().now() + 20s, 2);
  EXPECT_EQ(engine.run_due(), 0U);
  engine.clock().advance(9999ms);
  EXPECT_EQ(engine.run_due(), 0U);
  engine.clock().advance(1ms);
  EXPECT_EQ(engine.run_due(), 1U);
  engine.clock().advance(10s);
  EXPECT_EQ(engine.run_due(), 1U);
}

TEST_F(EngineTest, SubmitsManyEachAtItsOwnTime) {
  std::vector<int> seen;
  auto pay = engine.retryable("pay", [&](int i) { seen.push_back(i); });
  pay.submit_many(std::vector{3, 1, 2}, [&](int i) { return SubmitOptions{.due_at = engine.clock().now() + i * 1s}; });
  engine.drain();
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

TEST_F(EngineTest, SubmitsManyWithTheirOwnOptions) {
  auto pay = engine.retryable("pay", [&](const Order&) { ++calls; });
  std::vector<Order> orders;
  for (int i = 0; i < 2500; ++i) orders.push_back({std::to_string(i), 1});
  const auto ids =
      pay.submit_many(orders, [](const Order& o) { return SubmitOptions{.key = "o" + o.id, .business_id = o.id}; });
  ASSERT_EQ(ids.size(), 2500U);
  EXPECT_EQ(engine.find(ids[42])->key, "o42");
  EXPECT_EQ(engine.find(ids[42])->business_id, "42");
  EXPECT_EQ(engine.run_due(), 2500U);
  EXPECT_EQ(calls, 2500);
}

}  // namespace
}  // namespace easyretry::test
