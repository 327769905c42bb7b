#include "engine/threads.h"

#include <atomic>
#include <future>
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
  std::atomic<int> steps_after_the_end{0};
  auto first = std::make_unique<RunLoop>("first", instance.core, wakeup, [&] {
    busy.set_value();
    release.get_future().wait();
    return Step{};
  });
  RunLoop second{"second", instance.core, wakeup, [&] {
                   if (wakeup.closed()) ++steps_after_the_end;
                   return Step{};
                 }};
  busy.get_future().wait();

  auto ended = std::async(std::launch::async, [&] { first.reset(); });
  while (!wakeup.closed()) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds{20});  // a loop that goes round would do so thousands of times
  EXPECT_LE(steps_after_the_end, 1) << "the step that was under way";
  release.set_value();
  ended.get();
}

TEST(RunLoop, GoesOnAfterAnExceptionAndTellsOfIt) {
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
