// When outcomes are written: at once, or together with those that are about to come.

#include "engine/settler.h"

#include <gtest/gtest.h>

#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

class SettlerTest : public ::testing::Test {
 protected:
  SettlerTest() {
    instance.handle("pay", [] {});
    for (const char* key : {"a", "b", "c"}) instance.submit("pay", key);
    instance.claim();
    runs = instance.core.holdings().all();
  }
  void finish(std::size_t which) {
    task::Settlement done;
    done.ticket = runs.at(which)->ticket();
    instance.core.outcomes().put(runs[which], done);
  }
  std::int64_t finished() { return shared.store->count({.finished = true}).value(); }

  SharedStore shared;
  VirtualInstance instance{shared, {.batch = 3}};
  std::vector<RunPtr> runs;  // claimed, and waiting for a worker
};

TEST_F(SettlerTest, AnOutcomeWaitsAMomentForTheOthersThatAreWaitingToRun) {
  finish(0);
  const Step step = instance.core.settler.step();
  EXPECT_FALSE(step.worked);
  EXPECT_EQ(step.wake, shared.clock.steady() + 2ms);
  EXPECT_EQ(finished(), 0);

  finish(1);
  shared.clock.advance(2ms);
  instance.core.settler.step();
  EXPECT_EQ(finished(), 2);
}

TEST_F(SettlerTest, ALaterOutcomeDoesNotMakeTheFirstWaitLonger) {
  finish(0);
  instance.core.settler.step();
  shared.clock.advance(1ms);
  finish(1);
  EXPECT_EQ(instance.core.settler.step().wake, shared.clock.steady() + 1ms);
}

TEST_F(SettlerTest, AFullBatchDoesNotWait) {
  for (const std::size_t which : {0U, 1U, 2U}) finish(which);
  instance.core.settler.step();
  EXPECT_EQ(finished(), 3);
}

TEST_F(SettlerTest, NothingIsWaitedForWhereNothingIsLeftToRun) {
  instance.core.workers().take_waiting([](const engine::Run&) { return true; });
  finish(0);
  instance.core.settler.step();
  EXPECT_EQ(finished(), 1);
}

}  // namespace
}  // namespace easyretry::engine
