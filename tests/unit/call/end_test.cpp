// Tasks that the application or an operator completes or fails.

#include "unit/call/direct_call_fixture.h"
#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

using ::testing::UnorderedElementsAre;

TEST_F(EngineTest, CompleteEndsAWaitingTaskAndGivesOnSuccessTheResult) {
  auto pay = engine.retryable("pay", [&](int) {
    ++calls;
    return std::string{"paid"};
  });
  std::vector<std::string> told;
  pay.on_success([&](const std::string& receipt, const TaskInfo& task) {
    EXPECT_EQ(task.outcome, Outcome::succeeded);
    told.push_back(receipt);
  });
  const TaskId id = pay.submit_after(10s, 1);
  EXPECT_TRUE(engine.complete(id, std::string{"paid in cash"}));
  EXPECT_FALSE(engine.complete(id, std::string{"paid twice"})) << "its outcome is decided";
  EXPECT_FALSE(engine.fail(id, "changed my mind"));
  engine.drain();
  EXPECT_EQ(calls, 0);
  EXPECT_THAT(told, ElementsAre("paid in cash"));
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
  EXPECT_EQ(engine.find(id)->attempts, 0);
  EXPECT_EQ(engine.stats().succeeded, 1U);
}

TEST_F(EngineTest, CompleteWithoutACallbackEndsTheTaskAtOnce) {
  auto pay = engine.retryable("pay", [&](int) { ++calls; });
  std::vector<EventKind> seen;
  engine.on_event([&](const Event& event) { seen.push_back(event.kind); });
  const TaskId id = pay.submit_after(10s, 1);
  EXPECT_TRUE(engine.complete(id));
  EXPECT_EQ(engine.find(id)->state, TaskState::finished);
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
  EXPECT_THAT(seen, ElementsAre(EventKind::stored, EventKind::succeeded));
  EXPECT_FALSE(engine.complete(id));
  EXPECT_FALSE(engine.complete(TaskId{12345}));
}

TEST_F(EngineTest, AResultThatOnSuccessCannotTakeIsRefusedAndNothingHappens) {
  auto pay = engine.retryable("pay", [](int) { return std::string{"paid"}; });
  pay.on_success([](const std::string&, const TaskInfo&) {});
  const TaskId id = pay.submit_after(10s, 1);
  EXPECT_THROW(engine.complete(id), std::invalid_argument) << "it needs one";
  EXPECT_THROW(engine.complete(id, 17), std::invalid_argument) << "a text, not a number";
  EXPECT_EQ(engine.find(id)->stage, Stage::run);
  pay.on_success([](const TaskInfo&) {});
  EXPECT_TRUE(engine.complete(id)) << "this one needs none";
}

TEST_F(EngineTest, FailEndsAWaitingTaskAndTellsTheOwnerWhy) {
  auto pay =
      engine.retryable("pay", [&](int) -> void { throw std::runtime_error("bank busy"); }, {.backoff = Fixed{1h}});
  std::vector<std::string> told;
  pay.on_final_failure([&](const Failure& failure, const TaskInfo&) {
    EXPECT_EQ(failure.outcome, Outcome::rejected);
    told.push_back(failure.message);
  });
  const TaskId id = pay.submit(1);
  engine.run_due();
  EXPECT_TRUE(engine.fail(id, "refunded by hand"));
  engine.run_due();
  EXPECT_THAT(told, ElementsAre("refunded by hand; last error: bank busy"));
  EXPECT_EQ(engine.find(id)->outcome, Outcome::rejected);
  EXPECT_EQ(engine.find(id)->last_error, "refunded by hand; last error: bank busy");
  EXPECT_EQ(engine.find(id)->attempts, 1);
  EXPECT_EQ(engine.stats().rejected, 1U);
  EXPECT_THROW(engine.fail(id, ""), std::invalid_argument);
}

TEST_F(EngineTest, ARunningTaskThatIsCompletedSeesItsStopTokenAndItsResultIsIgnored) {
  TaskId id{};
  auto pay = engine.retryable("pay", [&](int) {
    EXPECT_TRUE(engine.complete(id, std::string{"by hand"}));
    EXPECT_TRUE(current_task()->stop.stop_requested());
    return std::string{"by the handler"};
  });
  std::vector<std::string> told;
  pay.on_success([&](const std::string& by, const TaskInfo&) { told.push_back(by); });
  id = pay.submit(1);
  engine.drain();
  EXPECT_THAT(told, ElementsAre("by hand"));
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
}

TEST_F(EngineTest, TheResultOfACompletedTaskIsSealedLikeOthers) {
  EngineOptions sealed = quiet();
  sealed.encryption.current = "a";
  sealed.encryption.keys = {EncryptionKey::from_hex("a", std::string(62, '1') + "01")};
  ManualEngine vault{sealed};
  auto pay = vault.retryable("pay", [](int) { return std::string{"paid"}; });
  std::vector<std::string> told;
  pay.on_success([&](const std::string& receipt, const TaskInfo&) { told.push_back(receipt); });
  EXPECT_TRUE(vault.complete(pay.submit_after(10s, 1), std::string{"in cash"}));
  vault.drain();
  EXPECT_THAT(told, ElementsAre("in cash"));
}

TEST_F(DirectCall, ManualTheCallerDecidesHowAStoredCallEnds) {
  busy = 100;
  auto pay = pay_with(Persist::manual);
  const TaskId paid = pay.store(Order{"7"}, "the gateway is busy");
  const TaskId lost = pay.store(Order{"8"}, "the gateway is busy");
  EXPECT_TRUE(engine.complete(paid, Receipt{200}));
  EXPECT_TRUE(engine.fail(lost, "the order was withdrawn"));
  engine.drain();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(engine.find(paid)->outcome, Outcome::succeeded);
  EXPECT_EQ(engine.find(lost)->outcome, Outcome::rejected);
  EXPECT_EQ(told.size(), 2U);
}

TEST_F(DirectCall, NeverARetryInMemoryCanBeCompletedAndFailed) {
  busy = 100;
  auto pay = engine.retryable("pay", gateway(), {.backoff = Fixed{10s}}, {.persist = Persist::never, .wait = false});
  pay.on_success([this](const Receipt& receipt, const TaskInfo&) { told.push_back(std::to_string(receipt.code)); });
  pay.on_final_failure([this](const Failure& failure, const TaskInfo&) { told.push_back(failure.message); });
  const auto first = pay(Order{"7"});
  const auto second = pay(Order{"8"});
  EXPECT_TRUE(engine.complete(first.task(), Receipt{299}));
  EXPECT_TRUE(engine.fail(second.task(), "withdrawn"));
  EXPECT_FALSE(engine.fail(second.task(), "withdrawn again"));
  engine.drain();
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(told, UnorderedElementsAre("299", "withdrawn; last error: the gateway is busy"));
}

}  // namespace
}  // namespace easyretry::test
