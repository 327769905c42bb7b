// Attempts outside this process: claimed when there is room, held and settled like all others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/attempt.h"
#include "engine/threads.h"
#include "engine/workers.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::SizeIs;

struct Outside final : RemoteExecutor {
  std::size_t room(std::size_t coming) override { return limit - std::min(limit, runs.size() + coming); }
  void take(std::vector<RunPtr> taken) override { std::move(taken.begin(), taken.end(), std::back_inserter(runs)); }

  std::size_t limit = 100;
  std::vector<RunPtr> runs;
};

struct RemoteExecutorTest : ::testing::Test {
  // A run holds its handler, which holds the executor that took the run: a cycle.
  ~RemoteExecutorTest() override { outside->runs.clear(); }

  void register_pay(const Policy& policy = {}, const HandlerOptions& options = {}) {
    instance.handle_remotely("pay", outside, policy, options);
  }
  RunPtr claim_one() {
    id = instance.submit("pay", "k");
    instance.claim();
    return outside->runs.at(0);
  }
  void end(const RunPtr& run, Called called) {
    instance.core.outcomes().put(run, end_attempt(*run, context, std::move(called)));
    instance.settle();
  }

  SharedStore shared;
  VirtualInstance instance{shared};
  Context& context = instance.core.context();
  std::shared_ptr<Outside> outside = std::make_shared<Outside>();
  TaskId id{};
};

TEST_F(RemoteExecutorTest, NoMoreIsClaimedThanThereIsRoomFor) {
  outside->limit = 2;
  register_pay();
  for (const char* key : {"a", "b", "c"}) instance.submit("pay", key);
  instance.claim();
  EXPECT_THAT(outside->runs, SizeIs(2));
  end(outside->runs.back(), {});
  outside->runs.pop_back();
  instance.claim();
  EXPECT_THAT(outside->runs, SizeIs(2));
}

TEST_F(RemoteExecutorTest, AFullRemoteExecutorHoldsUpNoHandlerHere) {
  outside->limit = 0;
  register_pay();
  int calls = 0;
  instance.handle("mail", [&] { ++calls; });
  instance.submit("pay", "a");
  instance.submit("mail", "b");
  instance.all();
  EXPECT_EQ(calls, 1);
}

TEST_F(RemoteExecutorTest, TheOutcomeIsJudgedByThePolicyOfTheHandler) {
  register_pay({.backoff = Fixed{1min}, .success_when = "result.paid and args[1] == 7"});
  const RunPtr run = claim_one();
  const AttemptStart start = begin_attempt(*run, context);
  ASSERT_FALSE(start.instead);
  EXPECT_EQ(start.arguments, "[]");
  const auto settled = [&](const char* result, const char* arguments) {
    return end_attempt(*run, context, detail::Reply{.result = result}, arguments);
  };
  EXPECT_EQ(settled(R"({"paid":true})", "[7]").outcome, Outcome::succeeded);
  const auto refused = settled(R"({"paid":true})", "[8]");
  EXPECT_EQ(refused.kind, task::Settlement::Kind::retry);
  EXPECT_EQ(refused.delay, 1min);
  EXPECT_THAT(refused.error, HasSubstr("not a success according to success_when"));
}

TEST_F(RemoteExecutorTest, ATaskThatMustNotRunIsSettledInstead) {
  register_pay({.stop = {.max_attempts = 1}});
  id = instance.submit("pay", "k", 1);
  instance.claim();
  end(outside->runs.at(0), {Called::End::failed, "503"});
  EXPECT_EQ(instance.look(id).info.outcome, Outcome::exhausted);

  outside->runs.clear();
  const RunPtr late = claim_one();
  shared.clock.advance(28s);  // nine tenths of the lease are gone
  const auto start = begin_attempt(*late, context);
  ASSERT_TRUE(start.instead);
  EXPECT_EQ(start.instead->kind, task::Settlement::Kind::hand_back);
}

TEST_F(RemoteExecutorTest, ItsLeaseIsRenewedAndItsTimeoutKept) {
  register_pay({}, {.timeout = 50s});
  const RunPtr run = claim_one();
  run->started = shared.clock.steady();
  for (int i = 0; i < 4; ++i) {
    shared.clock.advance(12s);
    instance.core.renewer().step();
  }
  EXPECT_EQ(run->interrupt, Interrupt::none);
  EXPECT_EQ(instance.look(id).info.version, run->record.info.version);
  shared.clock.advance(3s);
  instance.core.renewer().step();
  EXPECT_EQ(run->interrupt, Interrupt::timeout);
  end(run, {Called::End::failed, "aborted"});
  EXPECT_THAT(instance.look(id).info.last_error, HasSubstr("timed out after 50000 ms: aborted"));
}

TEST_F(RemoteExecutorTest, AReleasedTaskIsNotRenewedAndCanBeSettledUntilAnotherInstanceHasIt) {
  register_pay();
  const RunPtr run = claim_one();
  instance.core.let_go({&run, 1}, 30s);
  shared.clock.advance(20s);
  instance.core.renewer().step();
  EXPECT_TRUE(instance.core.settle_now(run, end_attempt(*run, context, Called{})).value());
  EXPECT_EQ(instance.look(id).info.outcome, Outcome::succeeded);

  outside->runs.clear();
  const RunPtr late = claim_one();
  instance.core.let_go({&late, 1}, 30s);
  shared.clock.advance(30s);
  instance.claim();
  ASSERT_THAT(outside->runs, SizeIs(2)) << "its lease had run out";
  EXPECT_FALSE(instance.core.settle_now(late, end_attempt(*late, context, Called{})).value());
  EXPECT_EQ(instance.look(id).info.state, TaskState::running);
  EXPECT_EQ(instance.core.stats().stale_settles, 1U);
}

TEST_F(RemoteExecutorTest, AReleasedTaskCountsForALimitUntilItIsSettledOrItsLeaseIsOver) {
  HandlerOptions options;
  options.limit = LimitOptions{.running = 1};
  register_pay({}, options);
  for (const char* key : {"a", "b", "c"}) instance.submit("pay", key);
  const auto claim = [&] {
    instance.core.renewer().step();
    instance.claim();
    instance.core.brake_watch().step();
    instance.claim();
  };
  claim();
  ASSERT_THAT(outside->runs, SizeIs(1));
  const RunPtr first = outside->runs.at(0);
  instance.core.let_go({&first, 1}, 30s);
  claim();
  ASSERT_THAT(outside->runs, SizeIs(1)) << "a worker has it";
  EXPECT_TRUE(instance.core.settle_now(first, end_attempt(*first, context, Called{})).value());
  claim();
  ASSERT_THAT(outside->runs, SizeIs(2));

  const RunPtr second = outside->runs.at(1);
  instance.core.let_go({&second, 1}, 30s);
  shared.clock.advance(20s);
  const storage::Renewal renewal{second->ticket(), 30s};
  ASSERT_TRUE(shared.store->renew({&renewal, 1}).value().applied.front()) << "at another instance";
  shared.clock.advance(20s);
  claim();
  EXPECT_THAT(outside->runs, SizeIs(2)) << "the worker still has it";
  shared.clock.advance(20s);
  claim();
  EXPECT_THAT(outside->runs, SizeIs(3));
}

TEST(RemoteExecutorThreads, AStopWaitsForThemAsksThemToStopAndHandsThemBack) {
  const auto store = std::make_shared<storage::MemoryStore>(storage::MemoryStoreOptions{}, system_clock());
  EngineOptions options;
  options.log = nullptr;
  Core core{store, system_clock(), {options, "", 1}, thread_workers(1)};
  // Ends when it is asked to stop.
  struct Obedient final : RemoteExecutor {
    explicit Obedient(Core& the_core) : core(the_core) {}
    std::size_t room(std::size_t) override { return 1; }
    void take(std::vector<RunPtr> runs) override {
      stopped.emplace(runs.front()->stop.get_token(), [this, run = runs.front()] {
        std::thread{[this, run] {
          core.outcomes().put(run, end_attempt(*run, core.context(), Called{Called::End::failed, "aborted"}));
        }}.detach();
      });
      taken = true;
    }
    Core& core;
    std::optional<std::stop_callback<std::function<void()>>> stopped;
    std::atomic<bool> taken{false};
  };
  const auto obedient = std::make_shared<Obedient>(core);
  detail::Handler handler;
  handler.name = "pay";
  handler.remote = obedient;
  core.context().handlers.add(std::move(handler));
  Threads threads{core};
  task::NewTask task;
  task.name_space = "default";
  task.handler = "pay";
  task.key = "k";
  task.payload = "[]";
  const TaskId id = core.submit({&task, 1}).value().front().id;
  while (!obedient->taken) std::this_thread::yield();
  threads.stop(Millis{1});
  const auto record = core.find(id).value().value();
  EXPECT_EQ(record.info.state, TaskState::pending);
  EXPECT_EQ(record.info.attempts, 0) << "handed back: the attempt does not count";
  obedient->stopped.reset();  // as above
}

}  // namespace
}  // namespace easyretry::engine
