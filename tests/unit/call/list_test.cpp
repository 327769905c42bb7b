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

TEST_F(EngineTest, WhatIsToBeDoneIsFoundByItsBusinessAndSaysWhetherItHasAHandler) {
  auto pay = engine.retryable("pay", [](int) {});
  const TaskId wanted = pay.with({.business_id = "42"}).submit_after(1h, 1);
  pay.submit_after(1h, 2);
  const auto found = engine.list({.business_id = "42"});
  ASSERT_THAT(ids_of(found), ElementsAre(wanted));
  EXPECT_FALSE(found[0].no_handler);
}

TEST_F(EngineTest, AnotherNamespaceIsNotListed) {
  auto pay = engine.retryable("pay", [](int) {});
  const TaskId ours = pay.submit_after(1h, 1);
  EXPECT_THAT(ids_of(engine.list({.space = "somebody else's"})), ElementsAre(ours));
}

}  // namespace
}  // namespace easyretry::test
