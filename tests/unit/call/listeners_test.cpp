// on_event and on_retry_scheduled: which events reach a listener, and when.

#include <future>
#include <numeric>

#include "unit/call/support.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

struct Listeners : ::testing::Test {
  ManualEngine engine{quiet()};
  std::vector<std::string> seen;

  void listen() {
    engine.on_event([this](const Event& event) { seen.emplace_back(to_string(event.kind)); });
  }
};

TEST_F(Listeners, HearEveryStepOfATaskInOrder) {
  listen();
  int calls = 0;
  auto pay = engine.retryable("pay",
                              [&](int) {
                                if (++calls == 1) throw Busy("slow");
                              },
                              {.backoff = Fixed{1s}});
  pay.submit(1);
  engine.drain();
  EXPECT_THAT(seen, ElementsAre("stored", "claimed", "attempt failed", "retry scheduled", "claimed", "succeeded"));
}

TEST_F(Listeners, HearHowATaskEnds) {
  listen();
  auto exhausted = engine.retryable("exhausted", [](int) { throw Busy("slow"); }, {.stop = {.max_attempts = 1}});
  auto rejected = engine.retryable("rejected", [](int) { return give_up("unknown"); });
  auto cancelled = engine.retryable("cancelled", [](int) {});
  auto parked = engine.retryable("parked", [](int) {});
  exhausted.submit(1);
  engine.run_due();
  EXPECT_EQ(seen.back(), "gave up");
  rejected.submit(1);
  engine.run_due();
  EXPECT_EQ(seen.back(), "gave up");
  engine.cancel(cancelled.submit_after(1h, 1));
  EXPECT_EQ(seen.back(), "cancelled");
}

TEST_F(Listeners, AreToldTheTaskAndTheMessage) {
  std::vector<Event> events;
  engine.on_event([&](const Event& event) { events.push_back(event); });
  auto pay = engine.retryable("pay", [](int) { throw Busy("slow"); }, {.backoff = Fixed{7s}});
  SubmitOptions options;
  options.business_id = "order-7";
  pay.with(options).submit(1);
  engine.run_due();
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[3].kind, EventKind::retry_scheduled);
  EXPECT_EQ(events[3].message, "slow");
  EXPECT_EQ(events[3].task.business_id, "order-7");
  EXPECT_EQ(events[3].task.attempts, 1);
  EXPECT_EQ(events[3].task.next_at, engine.clock().now() + 7s);
}

TEST_F(Listeners, ThatThrowAreCountedAndChangeNothing) {
  engine.on_event([](const Event&) { throw std::runtime_error("bug"); });
  auto pay = engine.retryable("pay", [](int) {});
  const TaskId id = pay.submit(1);
  engine.run_due();
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
  EXPECT_EQ(engine.stats().listener_failures, 3U);
}

TEST_F(Listeners, OnAQueueHoldUpNeitherTheEngineNorItsEnd) {
  // Outlives the test, because the listener waits on it forever.
  static auto* const hang = new std::promise<void>;
  const std::shared_future<void> never{hang->get_future()};
  engine.on_event([never](const Event&) { never.wait(); }, Delivery::queued);
  auto pay = engine.retryable("pay", [](int) {});
  std::vector<int> many(4000);
  std::iota(many.begin(), many.end(), 0);
  pay.submit_many(many);
  engine.run_due();
  EXPECT_EQ(engine.stats().succeeded, 4000U);
  EXPECT_EQ(engine.stats().events_dropped, 12'000U - 10'001U) << "one is being delivered, 10,000 wait";
}

TEST_F(Listeners, OnAQueueHearEverythingInOrderBeforeTheEngineEnds) {
  {
    ManualEngine other{quiet()};
    other.on_event([this](const Event& event) { seen.emplace_back(to_string(event.kind)); }, Delivery::queued);
    other.retryable("pay", [](int) {}).submit(1);
    other.run_due();
  }
  EXPECT_THAT(seen, ElementsAre("stored", "claimed", "succeeded"));
}

TEST_F(Listeners, OnRetryScheduledGetsTheReasonAndTheTimeAndMayThrow) {
  auto pay =
      engine.retryable("pay", [](int) { throw Busy("slow"); }, {.backoff = Fixed{7s}, .stop = {.max_attempts = 3}});
  pay.on_retry_scheduled([&](const std::string& error, const TaskInfo& task) {
    seen.push_back(error + " again in " + std::to_string((task.next_at - engine.clock().now()).count()));
    throw std::runtime_error("bug");
  });
  EXPECT_TRUE(pay(1).stored());
  engine.drain();
  EXPECT_THAT(seen, ElementsAre("slow again in 7000", "slow again in 7000"));
  EXPECT_EQ(engine.stats().callback_failures, 2U);
}

}  // namespace
}  // namespace easyretry::test
