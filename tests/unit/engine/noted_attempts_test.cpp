// Which attempts are noted among the last attempts of a task, and what of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/attempt.h"
#include "unit/engine/forwarding_store.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class NotedAttempts : public ::testing::Test {
 protected:
  std::vector<PastAttempt> attempts(TaskId id) { return instance.look(id).info.last_attempts; }
  const std::string& name() { return instance.core.context().owner; }
  // The handler takes a second, and then does this.
  void handle(std::function<void()> run, Policy policy = {.backoff = Fixed{0ms}}) {
    instance.handle(
        "pay",
        [this, run = std::move(run)] {
          shared.clock.advance(1s);
          run();
        },
        std::move(policy));
  }

  SharedStore shared;
  VirtualInstance instance{shared};
};

TEST_F(NotedAttempts, AFailureSaysWhenWhereAndWhy) {
  handle([] { throw std::runtime_error("bank busy"); });
  const TaskId id = instance.submit("pay", "k");
  const TimePoint before = shared.clock.now();
  instance.all();
  ASSERT_THAT(attempts(id), SizeIs(1));
  const PastAttempt attempt = attempts(id).front();
  EXPECT_EQ(attempt.number, 1);
  EXPECT_EQ(attempt.began_at, before);
  EXPECT_EQ(attempt.ended_at, before + 1s);
  EXPECT_EQ(attempt.end, AttemptEnd::failed);
  EXPECT_EQ(attempt.by, name());
  EXPECT_EQ(attempt.error, "bank busy");
}

TEST_F(NotedAttempts, ASuccessAtTheFirstAttemptLeavesNone) {
  handle([] {});
  const TaskId id = instance.submit("pay", "k");
  instance.all();
  EXPECT_EQ(instance.look(id).info.outcome, Outcome::succeeded);
  EXPECT_THAT(attempts(id), IsEmpty());
}

TEST_F(NotedAttempts, ASuccessAfterAFailureIsTheLastOfThem) {
  bool works = false;
  handle([&] {
    if (!std::exchange(works, true)) throw std::runtime_error("bank busy");
  });
  const TaskId id = instance.submit("pay", "k");
  instance.all();
  instance.all();
  EXPECT_EQ(instance.look(id).info.outcome, Outcome::succeeded);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempts(id)[0].number, 2);
  EXPECT_EQ(attempts(id)[0].end, AttemptEnd::succeeded);
  EXPECT_EQ(attempts(id)[0].error, "");
  EXPECT_EQ(attempts(id)[1].end, AttemptEnd::failed);
}

TEST_F(NotedAttempts, AFinalFailureSaysWhyNoOtherFollows) {
  handle([] { throw std::runtime_error("bank busy"); });
  const TaskId id = instance.submit("pay", "k", 1);
  instance.all();
  EXPECT_EQ(instance.look(id).info.outcome, Outcome::exhausted);
  ASSERT_THAT(attempts(id), SizeIs(1));
  EXPECT_EQ(attempts(id)[0].error, instance.look(id).info.last_error);
}

TEST_F(NotedAttempts, AHandBackIsNoAttempt) {
  handle([] {});
  const TaskId id = instance.submit("pay", "k");
  instance.claim();
  const RunPtr run = instance.core.in_flight().find(id);
  run->interrupt_with(Interrupt::draining);
  const auto settlement = end_attempt(*run, instance.core.context(), Called{Called::End::failed, "stopped"});
  EXPECT_EQ(settlement.kind, task::Settlement::Kind::hand_back);
  EXPECT_EQ(settlement.attempt, "");
}

TEST_F(NotedAttempts, ALimitThatEndsATaskWithoutARunIsNoAttempt) {
  handle([] { throw std::runtime_error("bank busy"); });
  const TaskId id = instance.submit("pay", "k", 1);
  instance.claim();
  const RunPtr claimed = instance.core.in_flight().find(id);
  task::TaskRecord record = claimed->record;
  record.info.attempts = 2;
  engine::Run run{record, claimed->handler, claimed->no, claimed->trusted_until.load()};
  EXPECT_EQ(engine::attempt(run, instance.core.context()).attempt, "");
}

TEST_F(NotedAttempts, ACrashOfAnInstanceIsSeenByTheNext) {
  std::string died;
  {
    VirtualInstance doomed{shared};
    doomed.handle("pay", [] {});
    doomed.submit("pay", "k");
    doomed.claim();
    died = doomed.core.context().owner;
  }
  handle([] {});
  shared.clock.advance(1h);
  instance.all();
  const TaskId id = shared.store->list({.finished = true}).value().at(0).info.id;
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempts(id)[0].end, AttemptEnd::succeeded);
  EXPECT_EQ(attempts(id)[0].by, name());
  EXPECT_EQ(attempts(id)[1].by, died);
  EXPECT_EQ(attempts(id)[1].began_at, std::nullopt);
}

// Refuses error texts, and with them everything that is sent along.
class TextRefusingStore : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<storage::Applied> settle(std::span<const task::Settlement> settlements) override {
    for (const task::Settlement& settlement : settlements) {
      if (settlement.attempt.empty()) continue;
      return fail(Errc::invalid_argument, "picky.settle", "no such text");
    }
    return ForwardingStore::settle(settlements);
  }
};

TEST_F(NotedAttempts, ATextThatTheStoreRefusesDoesNotKeepATaskFromBeingSettled) {
  VirtualInstance picky{std::make_shared<TextRefusingStore>(shared.clock), shared.clock};
  picky.handle("pay", [] { throw std::runtime_error("bank busy"); });
  const TaskId id = picky.submit("pay", "k");
  picky.all();
  EXPECT_EQ(picky.look(id).info.state, TaskState::pending);
  EXPECT_THAT(picky.look(id).info.last_attempts, IsEmpty());
}

}  // namespace
}  // namespace easyretry::engine
