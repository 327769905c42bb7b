// Cancelling a task that waits, and one that runs.

#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

TEST_F(EngineTest, CancelEndsAWaitingTaskAndTellsTheOwner) {
  auto pay = engine.retryable("pay", [&](int) { ++calls; });
  const TaskId silent = pay.submit_after(10s, 1);
  EXPECT_TRUE(engine.cancel(silent));
  EXPECT_EQ(engine.find(silent)->outcome, Outcome::cancelled);
  EXPECT_FALSE(engine.cancel(silent));

  std::vector<Outcome> told;
  pay.on_final_failure([&](const Failure& failure, const TaskInfo&) { told.push_back(failure.outcome); });
  const TaskId loud = pay.submit_after(10s, 2);
  EXPECT_TRUE(engine.cancel(loud));
  engine.drain();
  EXPECT_EQ(calls, 0);
  EXPECT_THAT(told, ElementsAre(Outcome::cancelled));
  EXPECT_EQ(engine.find(loud)->outcome, Outcome::cancelled);
  EXPECT_FALSE(engine.cancel(TaskId{12345}));
}

TEST_F(EngineTest, CancelFromInsideTheHandlerStopsItAndItsResultChangesNothing) {
  TaskId id{};
  auto pay = engine.retryable("pay", [&](int) {
    EXPECT_FALSE(current_task()->stop.stop_requested());
    EXPECT_TRUE(engine.cancel(id));
    EXPECT_TRUE(current_task()->stop.stop_requested());
  });
  id = pay.submit(1);
  engine.drain();
  EXPECT_EQ(engine.find(id)->outcome, Outcome::cancelled);
  EXPECT_EQ(engine.stats().stale_settles, 1U);
}

}  // namespace
}  // namespace easyretry::test
