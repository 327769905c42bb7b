// The engine with its threads, on the machine's clock.

#include <atomic>
#include <future>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

#include <easyretry/config.h>
#include <easyretry/easyretry.h>

#include "support/eventually.h"
#include "support/line_at_start.h"
#include "support/temp_folder.h"

namespace easyretry {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::wait_for_stop;

EngineOptions quick() {
  EngineOptions options;
  options.workers = 4;
  options.window = 200ms;
  options.lease = 1s;
  options.drain = 100ms;
  options.log = nullptr;
  return options;
}

TEST(EngineThreads, RunManyTasksEachOnce) {
  Engine engine{"memory:", quick()};
  std::array<std::atomic<int>, 5000> runs{};
  auto work = engine.retryable("work", [&](int i) { ++runs[static_cast<std::size_t>(i)]; });
  engine.start();
  std::vector<int> numbers(runs.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i);
  work.submit_many(numbers);
  ASSERT_TRUE(eventually([&] { return engine.stats().succeeded == runs.size(); }));
  for (const auto& n : runs) EXPECT_EQ(n, 1);
  EXPECT_EQ(engine.stats().stale_settles, 0U);
}

TEST(EngineThreads, ASlowKindDelaysOnlyItself) {
  Engine engine{"memory:", quick()};
  std::latch release{1};
  auto slow = engine.retryable("slow", [&](int) { release.wait(); });
  auto fast = engine.retryable("fast", [](int) {});
  engine.start();
  for (int i = 0; i < 50; ++i) slow.submit(i);
  ASSERT_TRUE(eventually([&] { return engine.stats().running >= 3; }));
  for (int i = 0; i < 50; ++i) fast.submit(i);
  EXPECT_TRUE(eventually([&] { return engine.stats().succeeded == 50; }));
  release.count_down();
  EXPECT_TRUE(eventually([&] { return engine.stats().succeeded == 100; }));
}

TEST(EngineThreads, ConcurrencyOfAKindIsKept) {
  Engine engine{"memory:", quick()};
  std::atomic<int> now = 0, most = 0;
  auto work = engine.retryable("work",
                               [&](int) {
                                 const int running = ++now;
                                 int seen = most;
                                 while (running > seen && !most.compare_exchange_weak(seen, running)) {
                                 }
                                 std::this_thread::yield();
                                 --now;
                               },
                               {}, {.concurrency = 2});
  engine.start();
  for (int i = 0; i < 300; ++i) work.submit(i);
  ASSERT_TRUE(eventually([&] { return engine.stats().succeeded == 300; }));
  EXPECT_LE(most, 2);
}

TEST(EngineThreads, StopLetsARunningHandlerFinish) {
  EngineOptions options = quick();
  options.drain = 10s;
  Engine engine{"memory:", options};
  std::latch started{1};
  std::latch finish{1};
  auto work = engine.retryable("work", [&](int) {
    started.count_down();
    finish.wait();
  });
  engine.start();
  const TaskId id = work.submit(1);
  started.wait();
  auto stopped = std::async(std::launch::async, [&] { engine.stop(); });
  EXPECT_EQ(stopped.wait_for(30ms), std::future_status::timeout);
  finish.count_down();
  stopped.get();
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
}

TEST(EngineThreads, StopHandsBackUnfinishedTasksWithoutUsingUpAnAttempt) {
  Engine engine{"memory:", quick()};
  std::latch started{4};
  auto work = engine.retryable("work", [&](int) {
    started.count_down();
    wait_for_stop(current_task()->stop);
    throw std::runtime_error("interrupted");
  });
  engine.start();
  std::vector<TaskId> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(work.submit(i));
  started.wait();
  engine.stop();
  for (const TaskId id : ids) {
    EXPECT_EQ(engine.find(id)->state, TaskState::pending);
    EXPECT_EQ(engine.find(id)->attempts, 0);
  }
}

TEST(EngineThreads, AHandlerThatHangsDoesNotHoldUpStop) {
  auto release = std::make_shared<std::latch>(1);  // outlives this test with the hanging thread
  auto returned = std::make_shared<std::atomic<bool>>(false);
  {
    Engine engine{"memory:", quick()};
    auto started = std::make_shared<std::latch>(1);
    auto work = engine.retryable("work", [release, returned, started](int) {
      started->count_down();
      release->wait();
      *returned = true;
    });
    engine.start();
    work.submit(1);
    started->wait();
    engine.stop();
    EXPECT_FALSE(*returned);
  }
  release->count_down();  // it returns to an engine that no longer exists
  EXPECT_TRUE(eventually([&] { return returned->load(); }));
}

TEST(EngineThreads, ATimeoutFailsTheAttemptAndItIsRetried) {
  Engine engine{"memory:", quick()};
  std::atomic<int> calls = 0;
  auto work = engine.retryable("work",
                               [&](int) {
                                 if (++calls > 1) return;
                                 wait_for_stop(current_task()->stop);
                                 throw std::runtime_error("interrupted");
                               },
                               Policy{.backoff = Fixed{1ms}}, {.timeout = 20ms});
  engine.start();
  const TaskId id = work.submit(1);
  ASSERT_TRUE(eventually([&] { return engine.find(id)->outcome.has_value(); }));
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
  EXPECT_EQ(engine.find(id)->attempts, 2);
  EXPECT_NE(engine.find(id)->last_error.find("timed out after 20 ms"), std::string::npos);
  EXPECT_EQ(engine.stats().timeouts, 1U);
}

// With such a lease the renewer, which also checks timeouts, sleeps for minutes while no handler has a timeout.
Config patient() {
  Config config;
  config.store = "memory:";
  config.engine = quick();
  config.engine.lease = 1h;
  return config;
}

void run_until_stopped(int) {
  wait_for_stop(current_task()->stop);
}

TEST(EngineThreads, ATimeoutOfAHandlerThatCameLaterIsNoticed) {
  Engine engine{patient()};
  auto first = engine.retryable("first", [](int) {});
  engine.start();
  const TaskId done = first.submit(1);
  ASSERT_TRUE(eventually([&] { return engine.find(done)->outcome.has_value(); }));
  const TaskId id = engine.retryable("later", run_until_stopped, {}, {.timeout = 20ms}).submit(1);
  EXPECT_TRUE(eventually([&] { return engine.find(id)->outcome.has_value(); }));
}

TEST(EngineThreads, ATimeoutThatAReloadBringsIsNoticed) {
  Config config = patient();
  Engine engine{config};
  auto first = engine.retryable("first", [](int) {});
  auto work = engine.retryable("work", run_until_stopped);
  engine.start();
  const TaskId done = first.submit(1);
  ASSERT_TRUE(eventually([&] { return engine.find(done)->outcome.has_value(); }));
  config.handlers["work"].timeout = 20ms;
  engine.reload(config);
  const TaskId id = work.submit(1);
  EXPECT_TRUE(eventually([&] { return engine.find(id)->outcome.has_value(); }));
}

TEST(EngineThreads, AWindowThatAReloadBringsIsReadByTheRunningEngine) {
  Config config{.store = "memory:"};
  config.engine.log = nullptr;
  Engine engine{config};
  auto work = engine.retryable("work", [](int) {});
  engine.start();
  const TaskId id = work.submit_after(1min, 1);
  EXPECT_EQ(engine.stats().read_ahead, 0U) << "it is beyond the window";
  config.engine.window = 2min;
  engine.reload(config);
  EXPECT_TRUE(eventually([&] { return engine.stats().read_ahead == 1; }));
  config.engine.window = 1s;
  engine.reload(config);
  EXPECT_TRUE(eventually([&] { return engine.stats().read_ahead == 0; }));
  EXPECT_EQ(engine.find(id)->state, TaskState::pending);
}

TEST(EngineThreads, ARunLongerThanItsLeaseKeepsIt) {
  EngineOptions options = quick();
  options.drain = 10s;
  Engine engine{"memory:", options};
  std::atomic<int> calls = 0;
  auto work = engine.retryable("work", [&](int) {
    ++calls;
    std::this_thread::sleep_for(2500ms);
  });
  engine.start();
  const TaskId id = work.submit(1);
  ASSERT_TRUE(eventually([&] { return engine.find(id)->outcome.has_value(); }));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(engine.find(id)->crashes, 0);
  EXPECT_EQ(engine.stats().leases_lost, 0U);
}

TEST(EngineThreads, SubmittersOnManyThreadsLoseNothing) {
  Engine engine{"memory:", quick()};
  std::atomic<int> calls = 0;
  auto work = engine.retryable("work", [&](int, int) { ++calls; });
  engine.start();
  std::vector<std::jthread> submitters;
  for (int t = 0; t < 8; ++t) {
    submitters.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) work.submit(t, i);
    });
  }
  submitters.clear();
  EXPECT_TRUE(eventually([&] { return engine.stats().succeeded == 1600; }));
  EXPECT_EQ(calls, 1600);
}

TEST(EngineThreads, LogAtTheirStartWhereTasksAreStoredAndWhatTheySurvive) {
  using Line = std::pair<LogLevel, std::string>;
  EXPECT_EQ(test::line_at_start("memory:"),
            Line(LogLevel::info,
                 "store memory://: an acknowledged task survives nothing: tasks are lost when the process ends"));
  const test::TempFolder folder;
  const std::string url = folder.sqlite_url();
  EXPECT_EQ(
      test::line_at_start(url),
      Line(LogLevel::info,
           "store " + url +
               ": an acknowledged task survives a crash of the process or the operating system, and a power cut"));
}

TEST(EngineThreads, AStoppedEngineStaysStoppedAndSaysSo) {
  Engine engine{"memory:", quick()};
  engine.start();
  engine.start();
  engine.stop();
  engine.stop();
  EXPECT_THROW(engine.start(), std::logic_error);
}

}  // namespace
}  // namespace easyretry
