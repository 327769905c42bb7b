// Paused handlers, on virtual time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/engine/forwarding_store.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

// Counts who asks what is paused, and says nothing while it is told not to. Reading takes time.
class AskedStore final : public ForwardingStore {
 public:
  explicit AskedStore(testing::ManualClock& clock) : ForwardingStore(clock), clock_(clock) {}

  bool says = true;
  int asked = 0;
  Millis a_load_takes{0};

  Result<storage::PausedReply> paused(std::string_view name_space) override {
    ++asked;
    if (!says) return fail(Errc::unavailable, "asked", "no answer");
    return ForwardingStore::paused(name_space);
  }
  Result<storage::LoadReply> load(const storage::LoadQuery& query) override {
    clock_.advance(a_load_takes);
    return ForwardingStore::load(query);
  }

 private:
  testing::ManualClock& clock_;
};

class PauseTest : public ::testing::Test {
 protected:
  PauseTest() {
    shared.store = store;
    for (VirtualInstance* one : {&instance, &other}) {
      one->handle("pay", [this] { ++paid; });
      one->handle("mail", [this] { ++mailed; });
    }
  }

  void pause() { ASSERT_TRUE(store->pause("default", "pay", "gateway down").value()); }
  void resume() { ASSERT_TRUE(store->resume("default", "pay").value()); }
  static bool work_a_little(VirtualInstance& one) {
    bool worked = one.core.loader().step().worked;
    worked |= one.core.pause_watch().step().worked;
    worked |= one.core.claimers()[0].step().worked;
    worked |= static_cast<InlineWorkers&>(one.core.workers()).step();
    worked |= one.core.settler().step().worked;
    return worked;
  }
  // Until there is nothing more to do at this moment.
  static void work(VirtualInstance& one) {
    while (work_a_little(one)) {
    }
  }
  void work_for(Millis time, Millis step = 250ms) {
    for (Millis passed{0}; passed < time; passed += step) {
      shared.clock.advance(step);
      work(instance);
    }
  }

  SharedStore shared;
  std::shared_ptr<AskedStore> store = std::make_shared<AskedStore>(shared.clock);
  VirtualInstance instance{with_store()};
  VirtualInstance other{with_store()};
  int paid = 0;
  int mailed = 0;

 private:
  SharedStore& with_store() {
    shared.store = store;
    return shared;
  }
};

TEST_F(PauseTest, TasksOfAPausedHandlerWaitAsTheyAreAndAreWorkedOffAfterIt) {
  pause();
  const TaskId id = instance.submit("pay", "k");
  const task::TaskRecord before = instance.look(id);
  work_for(1min);
  EXPECT_EQ(paid, 0);
  const task::TaskRecord meanwhile = instance.look(id);
  EXPECT_EQ(meanwhile.info.version, before.info.version) << "no instance has touched it";
  EXPECT_EQ(meanwhile.info.next_at, before.info.next_at);
  EXPECT_EQ(meanwhile.info.attempts, 0);
  resume();
  work_for(1s);
  EXPECT_EQ(paid, 1);
  EXPECT_EQ(instance.look(id).info.attempts, 1);
}

TEST_F(PauseTest, OtherHandlersGoOn) {
  pause();
  instance.submit("pay", "k");
  instance.submit("mail", "k2");
  work_for(1s);
  EXPECT_EQ(paid, 0);
  EXPECT_EQ(mailed, 1);
}

TEST_F(PauseTest, AHandlerPausedByThisInstanceStopsAtOnce) {
  instance.submit("mail", "warm up");
  work(instance);
  ASSERT_TRUE(instance.core.pause("pay", "gateway down").value());
  instance.submit("pay", "k");
  work(instance);
  EXPECT_EQ(paid, 0);
  instance.submit("pay", "k2");
  work(instance);
  EXPECT_EQ(instance.core.schedule().held(), 0U) << "nor does it lie in memory";
  ASSERT_TRUE(instance.core.resume("pay").value());
  work(instance);
  EXPECT_EQ(paid, 2);
}

TEST_F(PauseTest, NothingOfItIsClaimedOnceThePauseHasReturnedEvenBeforeTheWatchLooks) {
  instance.submit("mail", "warm up");
  work(instance);  // what is paused is known, and recent
  instance.submit("pay", "k");
  instance.core.loader().step();
  ASSERT_TRUE(instance.core.pause("pay", "gateway down").value());
  instance.core.claimers()[0].step();
  EXPECT_EQ(instance.core.stats().claimed, 1U) << "the warming up";
  work(instance);
  EXPECT_EQ(paid, 0);
}

TEST_F(PauseTest, AnotherInstanceClaimsNothingMoreAfterTwoSecondsEvenIfItsWatchStandsStill) {
  other.submit("mail", "warm up");
  other.all();
  pause();
  shared.clock.advance(kPausesKnownFor);
  other.submit("pay", "k");
  other.core.loader().step();
  other.core.claimers()[0].step();
  EXPECT_EQ(other.core.stats().claimed, 1U) << "the warming up";
  other.core.pause_watch().step();
  other.core.claimers()[0].step();
  EXPECT_EQ(other.core.stats().claimed, 1U);
}

TEST_F(PauseTest, ABusyInstanceHearsOfAPauseWithinASecond) {
  for (int i = 0; i < 4; ++i) {
    instance.submit("mail", "before " + std::to_string(i));
    work_for(500ms);
  }
  pause();
  instance.submit("mail", "keeps it busy");
  work_for(1s);
  instance.submit("pay", "k");
  work(instance);
  EXPECT_EQ(paid, 0);
}

TEST_F(PauseTest, WaitingTasksAreNotClaimedOnceThePauseIsKnown) {
  const TaskId id = instance.submit("pay", "k");
  instance.core.claimers()[0].step();
  ASSERT_EQ(instance.core.schedule().held(), 1U) << "due, and waiting for the store's word";
  instance.core.context().pauses.learn({"pay"}, {}, shared.clock.steady(), 0);
  instance.core.claimers()[0].step();
  EXPECT_EQ(instance.look(id).info.state, TaskState::pending);
}

TEST_F(PauseTest, TasksReadAheadAreForgotten) {
  instance.submit("mail", "warm up");
  work(instance);
  task::NewTask soon;
  soon.name_space = "default";
  soon.handler = "pay";
  soon.key = "soon";
  soon.payload = "[]";
  soon.delay = 3s;
  ASSERT_TRUE(instance.core.submit({&soon, 1}));
  work(instance);
  ASSERT_EQ(instance.core.schedule().held(), 1U);
  pause();
  work_for(1s);
  EXPECT_EQ(instance.core.schedule().held(), 0U);
  work_for(10s);
  EXPECT_EQ(paid, 0);
  resume();
  work_for(1s);
  EXPECT_EQ(paid, 1);
}

TEST_F(PauseTest, ClaimedTasksThatHaveNotStartedAreHandedBackUncounted) {
  const TaskId id = instance.submit("pay", "k");
  instance.claim();
  ASSERT_EQ(instance.look(id).info.state, TaskState::running);
  ASSERT_TRUE(instance.core.pause("pay", "").value());
  instance.core.pause_watch().step();
  instance.run_handlers();
  instance.settle();
  EXPECT_EQ(paid, 0);
  EXPECT_EQ(instance.look(id).info.state, TaskState::pending);
  EXPECT_EQ(instance.look(id).info.attempts, 0);
}

TEST_F(PauseTest, RunningTasksMayFinish) {
  instance.handle("slow", [this] {
    ++paid;
    instance.core.pause("slow", "").value();
    instance.core.pause_watch().step();
  });
  const TaskId id = instance.submit("slow", "k");
  instance.all();
  EXPECT_EQ(paid, 1);
  EXPECT_EQ(instance.look(id).info.outcome, Outcome::succeeded);
}

TEST_F(PauseTest, NothingIsClaimedBeforeTheListOfPausesIsRead) {
  store->says = false;
  instance.submit("mail", "k");
  work_for(1min);
  EXPECT_EQ(mailed, 0);
  EXPECT_GT(store->asked, 10) << "and it is asked again and again";
  store->says = true;
  work_for(3s);
  EXPECT_EQ(mailed, 1);
}

TEST_F(PauseTest, AStoreThatSaysNothingMoreIsTakenAtItsLastWord) {
  pause();
  instance.submit("mail", "k");
  instance.submit("pay", "k2");
  work(instance);
  ASSERT_EQ(mailed, 1);
  store->says = false;
  work_for(5s);
  instance.submit("mail", "k3");
  work_for(3s);
  EXPECT_EQ(mailed, 2);
  EXPECT_EQ(paid, 0);
}

TEST_F(PauseTest, AStoreThatFailedToSayIsAskedAgainThoughThereIsNothingToDo) {
  instance.submit("mail", "warm up");
  work(instance);
  shared.clock.advance(kPausesKnownFor);
  store->says = false;
  instance.submit("mail", "k");
  work_for(1s);
  ASSERT_EQ(mailed, 2) << "by the last word";
  store->says = true;
  pause();
  work_for(5s);
  const TaskId id = instance.submit("pay", "k2");
  instance.core.claimers()[0].step();  // before the watch has another chance
  EXPECT_EQ(instance.look(id).info.state, TaskState::pending);
}

TEST_F(PauseTest, AnInstanceThatHasNothingToDoAsksForNothing) {
  instance.submit("mail", "k");
  work_for(5s);
  const int before = store->asked;
  work_for(1min);
  EXPECT_EQ(store->asked, before);
}

TEST_F(PauseTest, WhileSomethingIsPausedItIsAskedForEverySecond) {
  pause();
  instance.submit("pay", "k");
  work_for(5s);
  const int before = store->asked;
  work_for(10s);
  EXPECT_EQ(store->asked, before + 10);
}

TEST_F(PauseTest, ATaskWhoseTimeRunsOutMeanwhileGivesUpWhenItIsClaimed) {
  pause();
  task::NewTask task;
  task.name_space = "default";
  task.handler = "pay";
  task.key = "k";
  task.payload = "[]";
  task.rules.max_duration = 10s;
  const TaskId id = instance.core.submit({&task, 1}).value().front().id;
  work_for(1min);
  EXPECT_EQ(instance.look(id).info.state, TaskState::pending);
  resume();
  work_for(1s);
  EXPECT_EQ(paid, 0);
  EXPECT_EQ(instance.look(id).info.outcome, Outcome::exhausted);
}

TEST_F(PauseTest, CallbacksOfACancelledTaskWaitToo) {
  int told = 0;
  detail::Handler telling;
  telling.name = "tell";
  telling.invoke = [](const std::string&, bool) { return detail::Reply{}; };
  telling.on_final_failure = [&](const Failure&, const TaskInfo&) { ++told; };
  instance.core.context().handlers.add(std::move(telling));
  ASSERT_TRUE(instance.core.pause("tell", "").value());
  const TaskId id = instance.submit("tell", "k");
  work(instance);
  EXPECT_TRUE(instance.core.cancel(id).value());
  work_for(1min);
  EXPECT_EQ(told, 0);
  ASSERT_TRUE(instance.core.resume("tell").value());
  work_for(1s);
  EXPECT_EQ(told, 1);
}

// Memory for 100 tasks, in which nothing of the 500 may lie.
TEST_F(PauseTest, ManyPausedTasksDoNotFillTheMemory) {
  VirtualInstance small{shared, {.batch = 20, .read_ahead = 100}};
  small.handle("pay", [this] { ++paid; });
  small.handle("mail", [this] { ++mailed; });
  pause();
  for (int i = 0; i < 500; ++i) other.submit("pay", "p" + std::to_string(i));
  shared.clock.advance(1s);
  other.submit("mail", "m");
  work(small);
  EXPECT_EQ(mailed, 1);
  EXPECT_EQ(small.core.schedule().held(), 0U);
  resume();
  shared.clock.advance(1s);
  work(small);
  EXPECT_EQ(paid, 500);
}

// 2,000 tasks of 64 shards, one of each a page and a second for it, take half a minute; the window is 5 s.
TEST_F(PauseTest, APassOverMorePausedTasksThanAWindowHoldsReachesTheTasksBehindThem) {
  VirtualInstance reader{shared, {.batch = 1, .read_ahead = 100}};
  reader.handle("pay", [this] { ++paid; });
  reader.handle("mail", [this] { ++mailed; });
  pause();
  for (int i = 0; i < 2000; ++i) other.submit("pay", "p" + std::to_string(i));
  shared.clock.advance(1s);
  other.submit("mail", "m");
  store->a_load_takes = 1s;
  const TimePoint began = shared.clock.now();
  while (mailed == 0 && shared.clock.now() < began + 10min) work_a_little(reader);
  EXPECT_EQ(mailed, 1);
  EXPECT_EQ(paid, 0);
}

}  // namespace
}  // namespace easyretry::engine
