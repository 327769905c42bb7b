// Callbacks that throw: retried alone, and without a word on the outcome.

#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

TEST_F(EngineTest, RetriesAFailedSuccessCallbackAloneWithTheSameResult) {
  std::vector<int> results;
  auto pay = engine.retryable("pay", [&](const Order&) { return 100 + ++calls; });
  pay.on_success([&](int result, const TaskInfo& task) {
    results.push_back(result);
    if (results.size() < 3) throw std::runtime_error("ledger is down");
    EXPECT_EQ(task.stage, Stage::on_success);
  });
  const TaskId id = pay.submit(Order{"7"});
  engine.run_due();
  EXPECT_EQ(engine.find(id)->stage, Stage::on_success);
  EXPECT_EQ(engine.find(id)->state, TaskState::pending);
  engine.drain();
  EXPECT_EQ(calls, 1) << "the handler is not run again";
  EXPECT_THAT(results, ElementsAre(101, 101, 101));
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
  EXPECT_EQ(engine.stats().callback_failures, 2U);
}

TEST_F(EngineTest, RetriesAFailedFinalFailureCallbackWithTheSameMessage) {
  std::vector<std::string> messages;
  auto pay = engine.retryable("pay", [&](const Order&) -> Answer {
    ++calls;
    return give_up("closed");
  });
  pay.on_final_failure([&](const Failure& failure, const TaskInfo&) {
    EXPECT_EQ(failure.outcome, Outcome::rejected);
    messages.push_back(failure.message);
    if (messages.size() < 3) throw std::runtime_error("pager is down");
  });
  const TaskId id = pay.submit(Order{"7"});
  engine.drain();
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(messages, ElementsAre("closed", "closed", "closed"));
  EXPECT_EQ(engine.find(id)->outcome, Outcome::rejected);
}

// Whoever is told of the end of a task may act on it, so it must be the end, whatever happens to the worker now.
TEST_F(EngineTest, AFinalFailureIsInTheStoreBeforeItIsTold) {
  std::optional<TaskInfo> stored;
  auto pay = engine.retryable("pay", [&](const Order&) -> Answer { return give_up("closed"); });
  pay.on_final_failure([&](const Failure&, const TaskInfo& task) { stored = engine.find(task.id); });
  pay.submit(Order{"7"});
  engine.drain();
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->stage, Stage::on_final_failure);
  EXPECT_EQ(stored->outcome, Outcome::rejected);
  EXPECT_EQ(stored->last_error, "closed");
}

TEST_F(EngineTest, AbandonsAFinalFailureThatCannotBeToldAfterAsManyTries) {
  int callbacks = 0;
  auto pay = engine.retryable("pay", [&](const Order&) -> Answer { return give_up("closed"); });
  pay.on_final_failure([&](const Failure&, const TaskInfo&) {
    ++callbacks;
    throw std::runtime_error("broken");
  });
  const TaskId id = pay.submit(Order{"7"});
  engine.drain();
  EXPECT_EQ(callbacks, 16);
  EXPECT_EQ(engine.find(id)->outcome, Outcome::rejected);
}

TEST_F(EngineTest, AbandonsAtOnceACallbackThatAsksForAResultThatCannotBeWritten) {
  int handled = 0;
  auto measure = engine.retryable("measure", [&](int) {
    ++handled;
    return std::string{"\xff"};
  });
  measure.on_success([&](const std::string&, const TaskInfo&) { FAIL() << "there is nothing to be told"; });
  const TaskId id = measure.submit(1);
  engine.drain();
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
  EXPECT_THAT(engine.find(id)->last_error, HasSubstr("needs none"));
  EXPECT_EQ(engine.stats().callback_failures, 1U);
  EXPECT_EQ(engine.stats().callbacks_abandoned, 1U);
  EXPECT_EQ(*measure(1), "\xff") << "a direct call gives it to its caller";
  EXPECT_EQ(engine.stats().callbacks_abandoned, 2U);
  EXPECT_EQ(engine.stats().stored, 1U) << "nothing is left to be called again";
}

TEST_F(EngineTest, AbandonsACallbackThatNeverWorksButKeepsTheOutcome) {
  auto pay = engine.retryable("pay", [&](const Order&) {});
  int callbacks = 0;
  pay.on_success([&](const TaskInfo&) {
    ++callbacks;
    throw std::runtime_error("broken");
  });
  const TaskId id = pay.submit(Order{"7"});
  engine.drain();
  EXPECT_EQ(callbacks, 16);
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
  EXPECT_THAT(engine.find(id)->last_error, HasSubstr("callback given up"));
  EXPECT_EQ(engine.stats().callbacks_abandoned, 1U);
}

}  // namespace
}  // namespace easyretry::test
