#include "engine/threads.h"

#include <atomic>
#include <future>
#include <latch>
#include <memory>

#include <gtest/gtest.h>

#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

TEST(RunLoop, EndsWithTheOtherLoopOfItsWakeupAlsoWhileThatOneIsBusy) {
  SharedStore shared;
  VirtualInstance instance{shared};
  Wakeup wakeup;
  std::promise<void> release;
  std::promise<void> busy;
  std::promise<void> second_ended;
  std::latch second_runs{1};
  std::atomic<int> steps_after_the_end{0};
  auto first = std::make_unique<RunLoop>("first", instance.core, wakeup, [&] {
    busy.set_value();
    release.get_future().wait();
    return Step{};
  });
  RunLoop second{"second", instance.core, wakeup, [&] {
                   if (!second_runs.try_wait()) {
                     second_ended.set_value_at_thread_exit();
                     second_runs.count_down();
                   }
                   if (wakeup.closed()) ++steps_after_the_end;
                   return Step{};
                 }};
  busy.get_future().wait();
  second_runs.wait();

  auto ended = std::async(std::launch::async, [&] { first.reset(); });
  EXPECT_EQ(second_ended.get_future().wait_for(std::chrono::seconds{20}), std::future_status::ready);
  EXPECT_LE(steps_after_the_end, 1) << "the step that had begun";
  release.set_value();
  ended.get();
}

TEST(RunLoop, ContinuesAfterAnExceptionAndReportsIt) {
  SharedStore shared;
  EngineOptions quiet;
  quiet.log = nullptr;
  Context context{*shared.store, system_clock(), quiet, "here", 1};  // its threads wait by the machine's clock
  Wakeup wakeup;
  std::atomic<int> steps{0};
  const RunLoop loop{"loop", context, wakeup, [&]() -> Step {
                       if (++steps == 1) throw 7;
                       return {};
                     }};
  while (steps < 2) std::this_thread::yield();
  EXPECT_EQ(context.counters.internal_errors, 1);
}

}  // namespace
}  // namespace easyretry::engine
