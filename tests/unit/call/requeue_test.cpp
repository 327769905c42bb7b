// Requeueing tasks that have ended.

#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

TEST_F(EngineTest, RequeueRunsAnEndedTaskAgainWithAllItsAttempts) {
  bool down = true;
  auto pay = engine.retryable("pay",
                              [&](int order) {
                                EXPECT_EQ(order, 42);
                                ++calls;
                                if (down) throw std::runtime_error("the gateway is down");
                              },
                              {.backoff = Fixed{1s}, .stop = {.max_attempts = 2}});
  const TaskId first = pay.submit(42);
  engine.drain();
  EXPECT_EQ(engine.find(first)->outcome, Outcome::exhausted);

  down = false;
  std::vector<EventKind> events;
  engine.on_event([&](const Event& event) { events.push_back(event.kind); });
  const TaskId second = engine.requeue(first).value();
  EXPECT_NE(second, first);
  engine.drain();
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(engine.find(second)->outcome, Outcome::succeeded);
  EXPECT_EQ(engine.find(second)->attempts, 1);
  EXPECT_EQ(engine.find(second)->generation, 1);
  EXPECT_EQ(engine.find(first)->outcome, Outcome::exhausted) << "the history stays";
  EXPECT_EQ(engine.find(first)->requeued_as, second);
  EXPECT_EQ(engine.find(second)->requeued_as, std::nullopt);
  EXPECT_THAT(events, ElementsAre(EventKind::stored, EventKind::claimed, EventKind::succeeded));
}

// Pages through the tasks like `easyretry tasks requeue --outcome exhausted`, twice.
TEST_F(EngineTest, AFailedTaskIsRequeuedOnceHoweverOftenAllFailuresAre) {
  bool down = true;
  auto pay = engine.retryable("pay",
                              [&](int) {
                                ++calls;
                                if (down) throw std::runtime_error("the gateway is down");
                              },
                              {.stop = {.max_attempts = 1}});
  pay.submit(42);
  engine.drain();
  down = false;
  const auto requeue_failures = [&] {
    int requeued = 0;
    for (const TaskInfo& task : engine.list({.finished = true, .outcome = Outcome::exhausted})) {
      if (engine.requeue(task.id)) ++requeued;
    }
    engine.drain();
    return requeued;
  };
  EXPECT_EQ(requeue_failures(), 1);
  EXPECT_EQ(requeue_failures(), 0);
  EXPECT_EQ(calls, 2) << "it failed once, and was paid once";
}

TEST_F(EngineTest, ATaskIsRequeuedWithOtherArguments) {
  std::vector<std::string> sent;
  auto mail = engine.retryable("mail",
                               [&](const std::string& to, int copies) {
                                 if (to.empty()) throw std::runtime_error("no address");
                                 sent.push_back(to + " " + std::to_string(copies));
                               },
                               {.stop = {.max_attempts = 1}});
  const TaskId first = mail.submit("", 2);
  engine.drain();
  const TaskId second = engine.requeue_with(first, std::string{"ann"}, 3).value();
  engine.drain();
  EXPECT_THAT(sent, ElementsAre("ann 3"));
  EXPECT_EQ(engine.find(second)->key, engine.find(first)->key);
  EXPECT_EQ(engine.find(first)->requeued_as, second);
  EXPECT_EQ(engine.requeue_with(first, std::string{"bob"}, 1), std::nullopt) << "once";
  EXPECT_EQ(engine.requeue_with(TaskId{12345}, std::string{"bob"}, 1), std::nullopt);
  EXPECT_THROW(engine.requeue_with(second, std::string(3'000'000, 'x'), 1), StoreError) << "more than max_payload";
}

TEST_F(EngineTest, RequeueSkipsTasksThatAreLiveUnknownOrHaveALiveSuccessor) {
  auto pay = engine.retryable("pay", [&](int) { ++calls; });
  const TaskId waiting = pay.submit_after(10s, 1);
  EXPECT_EQ(engine.requeue(waiting), std::nullopt);
  EXPECT_EQ(engine.requeue(TaskId{12345}), std::nullopt);
  const TaskId ended = pay.submit(2);
  engine.run_due();
  const TaskId again = pay.submit_after(10s, 2);  // the same key
  EXPECT_EQ(engine.requeue(ended), std::nullopt);
  EXPECT_EQ(engine.find(again)->state, TaskState::pending);
}

}  // namespace
}  // namespace easyretry::test
