// A task that is cancelled before it begins does not begin, no matter which instance holds it and which one cancels it;
// its owner is notified.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/workers.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CancelTest : public ::testing::Test {
 protected:
  CancelTest() {
    shared.store = std::make_shared<storage::MemoryStore>(storage::MemoryStoreOptions{.shared = true}, shared.clock);
  }

  // Waits take no real time.
  void play(VirtualInstance& instance) {
    instance.core.context().sleep = [this](Millis time) {
      waits.push_back(time);
      shared.clock.advance(time);
    };
  }

  SharedStore shared;
  std::vector<Millis> waits;
  int calls = 0;
};

TEST_F(CancelTest, ATaskThatWaitsForAWorkerHereIsNotBegun) {
  VirtualInstance instance{shared};
  play(instance);
  instance.handle("pay", [&] { ++calls; });
  const TaskId id = instance.submit("pay", "k");
  instance.claim();
  EXPECT_TRUE(instance.core.cancel(id).value());
  instance.run_handlers();
  instance.settle();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(instance.look(id).info.outcome, Outcome::cancelled);
  EXPECT_THAT(waits, IsEmpty()) << "its worker is told at once";
}

TEST_F(CancelTest, ATaskThatWaitsForAWorkerOfAnotherInstanceIsNotBegunOnceCancelHasReturned) {
  VirtualInstance holder{shared};
  VirtualInstance canceller{shared};
  play(canceller);
  for (VirtualInstance* one : {&holder, &canceller}) one->handle("pay", [&] { ++calls; });
  const TaskId id = holder.submit("pay", "k");
  holder.claim();
  EXPECT_TRUE(canceller.core.cancel(id).value());
  EXPECT_THAT(waits, ElementsAre(2 * kBeginWithin)) << "for the word of the holder, who looks by then";
  holder.run_handlers();
  holder.settle();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(holder.look(id).info.outcome, Outcome::cancelled);
}

TEST_F(CancelTest, ATaskThatWaitedLongAndIsStillOursBegins) {
  VirtualInstance holder{shared};
  holder.handle("pay", [&] { ++calls; });
  const TaskId id = holder.submit("pay", "k");
  holder.claim();
  shared.clock.advance(5s);
  holder.run_handlers();
  holder.settle();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(holder.look(id).info.outcome, Outcome::succeeded);
}

TEST_F(CancelTest, ATaskThatCannotHaveBeenClaimedIsNotWaitedFor) {
  VirtualInstance instance{shared};
  play(instance);
  task::NewTask later;
  later.name_space = "default";
  later.handler = "pay";
  later.key = "k";
  later.payload = "[]";
  later.delay = 1h;
  const TaskId id = instance.core.submit({&later, 1}).value().front().id;
  EXPECT_TRUE(instance.core.cancel(id).value());
  EXPECT_THAT(waits, IsEmpty());
}

TEST_F(CancelTest, AClaimInFlightDoesNotBringATaskBack) {
  InFlight in_flight;
  VirtualInstance instance{shared};
  instance.handle("pay", [] {});
  const TaskId id = instance.submit("pay", "k");
  instance.claim();
  const RunPtr claimed = instance.core.in_flight().find(id);
  in_flight.cancelled({&id, 1});
  in_flight.add({&claimed, 1});
  EXPECT_EQ(claimed->interrupt, Interrupt::cancelled);
}

TEST_F(CancelTest, TheOwnerIsNotifiedByAnInstanceWithTheHandler) {
  VirtualInstance owner{shared};
  VirtualInstance stranger{shared};
  play(stranger);
  int told = 0;
  owner.handle("pay", [&] { ++calls; });
  detail::Handler tells;
  tells.on_final_failure = [&](const Failure& failure, const TaskInfo&) {
    EXPECT_EQ(failure.outcome, Outcome::cancelled);
    ++told;
  };
  owner.core.context().handlers.change("pay", std::move(tells));
  const TaskId id = owner.submit("pay", "k");
  EXPECT_TRUE(stranger.core.cancel(id).value());
  EXPECT_EQ(told, 0);
  owner.all();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(owner.look(id).info.outcome, Outcome::cancelled);
  EXPECT_EQ(owner.look(id).info.state, TaskState::finished);
}

TEST_F(CancelTest, ATaskWhoseOwnerWantsNoWordEndsWithTheFirstInstanceThatKnowsTheHandler) {
  VirtualInstance owner{shared};
  VirtualInstance stranger{shared};
  play(stranger);
  owner.handle("pay", [&] { ++calls; });
  const TaskId id = owner.submit("pay", "k");
  EXPECT_TRUE(stranger.core.cancel(id).value());
  EXPECT_EQ(owner.look(id).info.state, TaskState::pending);
  owner.all();
  EXPECT_EQ(owner.look(id).info.state, TaskState::finished);
  EXPECT_EQ(calls, 0);
}

TEST_F(CancelTest, ATaskEndsAtOnceWithoutACallbackToRun) {
  VirtualInstance stranger{shared};
  play(stranger);
  const TaskId id = stranger.submit("gone", "k");
  EXPECT_THAT(stranger.core.cancel(std::vector{id}, Core::Tell::nobody).value(), ElementsAre(true));
  EXPECT_EQ(stranger.look(id).info.state, TaskState::finished);
  EXPECT_EQ(stranger.look(id).info.outcome, Outcome::cancelled);
}

}  // namespace
}  // namespace easyretry::engine
