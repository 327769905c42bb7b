// Callbacks that throw are retried by themselves, and do not change the outcome.

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

// A callback may act on the end of a task, so the end must be stored before, whatever happens to the worker then.
TEST_F(EngineTest, AFinalFailureIsInTheStoreBeforeItsCallbackRuns) {
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

// An owner may be told of a success that is then overruled, by a crash before it is stored or by a cancellation.
TEST_F(EngineTest, OfASuccessAndAFailureOfOneTaskTheOneWithTheHigherVersionHolds) {
  std::map<std::int64_t, Outcome> told;
  auto pay = engine.retryable("pay", [&](const Order&) {});
  pay.on_success([&](const TaskInfo& task) {
    told.emplace(task.version, Outcome::succeeded);
    engine.cancel(task.id);  // as an operator might at this moment
  });
  pay.on_final_failure(
      [&](const Failure& failure, const TaskInfo& task) { told.emplace(task.version, failure.outcome); });
  const TaskId id = pay.submit(Order{"7"});
  engine.drain();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told.begin()->second, Outcome::succeeded);
  EXPECT_EQ(told.rbegin()->second, Outcome::cancelled);
  EXPECT_EQ(engine.find(id)->outcome, told.rbegin()->second);
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
  measure.on_success([&](const std::string&, const TaskInfo&) { FAIL() << "there is no result to report"; });
  const TaskId id = measure.submit(1);
  engine.drain();
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
  EXPECT_THAT(engine.find(id)->last_error, HasSubstr("needs none"));
  EXPECT_EQ(engine.stats().callback_failures, 1U);
  EXPECT_EQ(engine.stats().callbacks_abandoned, 1U);
  EXPECT_EQ(*measure(1), "\xff") << "a direct call returns it to its caller";
  EXPECT_EQ(engine.stats().callbacks_abandoned, 2U);
  EXPECT_EQ(engine.stats().stored, 1U) << "no callback is left to retry";
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
