// Searching for tasks.

#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

std::vector<TaskId> ids_of(const std::vector<TaskInfo>& tasks) {
  std::vector<TaskId> ids;
  for (const TaskInfo& task : tasks) ids.push_back(task.id);
  return ids;
}

TEST_F(EngineTest, FinishedTasksAreFoundByHandlerOutcomeAndTime) {
  auto pay = engine.retryable(
      "pay", [](int) { throw std::runtime_error("no"); }, Policy{.stop = {.max_attempts = 1}});
  auto ship = engine.retryable("ship", [](int) {});
  pay.submit(1);
  engine.drain();
  engine.clock().advance(1h);
  const TimePoint since = engine.clock().now();
  const TaskId wanted = pay.submit(2);
  ship.submit(3);
  engine.drain();
  const TaskQuery query{
      .finished = true, .handler = "pay", .outcome = Outcome::exhausted, .finished_at = {.from = since}};
  EXPECT_THAT(ids_of(engine.list(query)), ElementsAre(wanted));
  EXPECT_EQ(engine.count(query), 1);
}

TEST_F(EngineTest, LiveTasksAreFoundByBusinessIdAndShowWhetherTheyHaveAHandler) {
  auto pay = engine.retryable("pay", [](int) {});
  const TaskId wanted = pay.with({.business_id = "42"}).submit_after(1h, 1);
  pay.submit_after(1h, 2);
  const auto found = engine.list({.business_id = "42"});
  ASSERT_THAT(ids_of(found), ElementsAre(wanted));
  EXPECT_FALSE(found[0].no_handler);
}

TEST_F(EngineTest, TasksAreFoundByTagAttemptsAndErrorAlsoAmongManyOthers) {
  auto pay = engine.retryable("pay", [](int amount) {
    if (amount < 0) throw std::runtime_error("no user " + std::to_string(-amount));
  });
  for (int i = 0; i < 300; ++i) pay.submit_after(1h, i);
  const TaskId vip = pay.with({.tags = {"vip"}}).submit_after(1h, 1000);
  const TaskId failed = pay.submit(-17);
  engine.run_due();
  EXPECT_THAT(ids_of(engine.list({.tag = "vip"})), ElementsAre(vip));
  EXPECT_THAT(ids_of(engine.list({.attempts_from = 1})), ElementsAre(failed));
  EXPECT_THAT(ids_of(engine.list({.failed = true})), ElementsAre(failed));
  EXPECT_EQ(engine.count({.tag = "vip"}), 1);
  EXPECT_EQ(engine.count({.due_at = {.from = engine.clock().now() + 1min}}), 301);
}

TEST_F(EngineTest, TasksAreListedOldestFirstOrNewestFirst) {
  auto pay = engine.retryable("pay", [](int) {});
  std::vector<TaskId> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(pay.submit_after(1h, i));
    engine.clock().advance(1ms);
  }
  EXPECT_THAT(ids_of(engine.list({})), ElementsAre(ids[0], ids[1], ids[2]));
  EXPECT_THAT(ids_of(engine.list({.order = ListOrder::newest_first, .limit = 2})), ElementsAre(ids[2], ids[1]));
  EXPECT_THAT(ids_of(engine.list({.order = ListOrder::newest_first, .after = ids[1]})), ElementsAre(ids[0]));
}

TEST_F(EngineTest, AnotherNamespaceIsNotListed) {
  auto pay = engine.retryable("pay", [](int) {});
  const TaskId ours = pay.submit_after(1h, 1);
  EXPECT_THAT(ids_of(engine.list({.name_space = "another application's"})), ElementsAre(ours));
}

}  // namespace
}  // namespace easyretry::test
