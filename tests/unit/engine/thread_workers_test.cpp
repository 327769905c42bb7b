// How much is claimed ahead of the worker threads.

#include "engine/thread_workers.h"

#include <latch>

#include <gtest/gtest.h>

#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kThreads = 2;

class ThreadWorkersTest : public ::testing::Test {
 protected:
  ThreadWorkersTest() {
    detail::Handler handler;
    handler.name = "pay";
    handler.invoke = [this](const std::string&, bool) {
      if (held) gate.wait();
      shared.clock.advance(takes);
      return detail::Reply{};
    };
    context->handlers.add(std::move(handler));
  }
  ~ThreadWorkersTest() override {
    gate.count_down();
    workers.wait_idle(std::chrono::steady_clock::now() + 10s);
  }

  void take(std::size_t count) { take(workers, count); }
  void take(ThreadWorkers& by, std::size_t count) {
    std::vector<RunPtr> runs;
    for (std::size_t i = 0; i < count; ++i) {
      task::TaskRecord record;
      record.payload = "[]";
      const auto table = context->handlers.snapshot();
      runs.push_back(
          std::make_shared<engine::Run>(std::move(record), table->by_number.at(0), HandlerNo{0}, Instant::max()));
    }
    by.take(std::move(runs));
  }
  // So many in the last moments: the clock stands still.
  void have_finished(std::size_t count) {
    take(count);
    ASSERT_TRUE(workers.wait_idle(std::chrono::steady_clock::now() + 10s));
  }

  SharedStore shared;
  std::atomic<bool> held = false;
  Millis takes{0};
  std::latch gate{1};
  std::shared_ptr<Context> context = std::make_shared<Context>(*shared.store, shared.clock, EngineOptions{}, "me", 1);
  std::shared_ptr<Outcomes> outcomes = std::make_shared<Outcomes>(100);
  ThreadWorkers workers{context, outcomes, kThreads};
};

TEST_F(ThreadWorkersTest, NothingIsClaimedBeyondTheFreeThreadsWhileNothingIsKnown) {
  EXPECT_EQ(workers.room(0, kThreads, 0), kThreads);
  held = true;
  take(1);
  EXPECT_EQ(workers.room(0, kThreads, 0), kThreads - 1);
  take(1);
  EXPECT_EQ(workers.room(0, kThreads, 0), 0U);
}

TEST_F(ThreadWorkersTest, FastHandlersHaveEightTimesTheirRecentTasksClaimedAhead) {
  have_finished(100);
  EXPECT_EQ(workers.room(0, kThreads, 0), 800U);
}

TEST_F(ThreadWorkersTest, SlowHandlersAreGivenNoMoreThanTheyCanRunInTwentyMilliseconds) {
  ThreadWorkers one{context, outcomes, 1};
  takes = 5ms;
  take(one, 3);
  ASSERT_TRUE(one.wait_idle(std::chrono::steady_clock::now() + 10s));
  EXPECT_EQ(one.room(0, 1, 0), 4U);
}

TEST_F(ThreadWorkersTest, TheTasksClaimedAheadAreReplenishedWhenHalfAreUsed) {
  have_finished(100);
  held = true;
  take(400);
  EXPECT_EQ(workers.room(0, kThreads, 0), 400U);
  take(1);
  EXPECT_EQ(workers.room(0, kThreads, 0), 0U) << "not one by one";
}

TEST_F(ThreadWorkersTest, TheClaimerIsWokenUpWhenHalfIsUsedUp) {
  have_finished(100);
  workers.room(0, kThreads, 0);
  context->claiming.wait_until(std::chrono::steady_clock::now());  // whatever rang before
  have_finished(401);
  const auto asked = std::chrono::steady_clock::now();
  context->claiming.wait_until(asked + 10s);
  EXPECT_LT(std::chrono::steady_clock::now() - asked, 10s);
}

}  // namespace
}  // namespace easyretry::engine
