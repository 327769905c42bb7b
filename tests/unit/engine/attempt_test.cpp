// From a claimed task to its settlement.

#include "engine/attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Kind = task::Settlement::Kind;

class AttemptTest : public ::testing::Test {
 protected:
  // A handler that gives this reply, or throws.
  void handle(std::function<detail::Reply()> body, Policy policy = {}, HandlerOptions options = {}) {
    detail::Handler handler;
    handler.name = "pay";
    handler.policy = std::move(policy);
    handler.options = std::move(options);
    handler.invoke = [this, body = std::move(body)](const std::string& arguments, bool) {
      ++calls;
      given = arguments;
      return body();
    };
    instance.core.handlers().add(std::move(handler));
  }
  void on_final_failure(std::function<void(const Failure&)> callback) {
    detail::Handler changes;
    changes.on_final_failure = [callback = std::move(callback)](const Failure& failure, const TaskInfo&) {
      callback(failure);
    };
    instance.core.handlers().change("pay", std::move(changes));
  }
  RunPtr claim(int max_attempts = 0) {
    const TaskId id = instance.submit("pay", "k", max_attempts);
    instance.claim();
    return instance.core.in_flight().find(id);
  }
  // The same task in another state.
  RunPtr claimed_as(const std::function<void(task::TaskRecord&)>& edit) {
    const RunPtr run = claim();
    task::TaskRecord record = run->record;
    edit(record);
    return std::make_shared<engine::Run>(record, run->handler, run->no, run->trusted_until.load());
  }
  task::Settlement attempt(engine::Run& run) { return engine::attempt(run, instance.core.context()); }

  SharedStore shared;
  VirtualInstance instance{shared};
  int calls = 0;
  std::string given;
};

TEST_F(AttemptTest, ASuccessEndsTheTask) {
  handle([] { return detail::Reply{}; });
  const RunPtr run = claim();
  const auto settlement = attempt(*run);
  EXPECT_EQ(settlement.kind, Kind::finish);
  EXPECT_EQ(settlement.outcome, Outcome::succeeded);
  EXPECT_EQ(settlement.ticket, run->ticket());
  EXPECT_EQ(given, "[]");
}

TEST_F(AttemptTest, AFailureIsRetriedAfterTheBackoffOfTheHandler) {
  handle([]() -> detail::Reply { throw std::runtime_error("down"); }, Policy{.backoff = Fixed{7s}});
  const auto settlement = attempt(*claim());
  EXPECT_EQ(settlement.kind, Kind::retry);
  EXPECT_EQ(settlement.delay, 7s);
  EXPECT_EQ(settlement.error, "down");
}

TEST_F(AttemptTest, TheBackoffStoredWithTheTaskWins) {
  handle([]() -> detail::Reply { throw std::runtime_error("down"); }, Policy{.backoff = Fixed{7s}});
  const RunPtr run = claimed_as([](task::TaskRecord& record) { record.rules.backoff = "fixed delay=3s jitter=none"; });
  EXPECT_EQ(attempt(*run).delay, 3s);
}

TEST_F(AttemptTest, AStoredBackoffThatCannotBeReadIsReplacedByTheHandlers) {
  handle([]() -> detail::Reply { throw std::runtime_error("down"); }, Policy{.backoff = Fixed{7s}});
  const RunPtr run = claimed_as([](task::TaskRecord& record) { record.rules.backoff = "by the moon"; });
  EXPECT_EQ(attempt(*run).delay, 7s);
}

TEST_F(AttemptTest, AnAnswerOfTheHandlerDecides) {
  handle([] { return detail::Reply{.answer = retry_after(42s, "busy")}; });
  const auto later = attempt(*claim());
  EXPECT_EQ(later.kind, Kind::retry);
  EXPECT_EQ(later.delay, 42s);
  EXPECT_EQ(later.error, "busy");
}

TEST_F(AttemptTest, GivingUpEndsTheTaskAsRejected) {
  handle([] { return detail::Reply{.answer = give_up("closed")}; });
  const auto settlement = attempt(*claim());
  EXPECT_EQ(settlement.kind, Kind::finish);
  EXPECT_EQ(settlement.outcome, Outcome::rejected);
  EXPECT_EQ(settlement.error, "closed");
}

TEST_F(AttemptTest, TheLastAttemptEndsTheTaskAsExhausted) {
  handle([]() -> detail::Reply { throw std::runtime_error("down"); });
  const auto settlement = attempt(*claim(1));
  EXPECT_EQ(settlement.kind, Kind::finish);
  EXPECT_EQ(settlement.outcome, Outcome::exhausted);
  EXPECT_THAT(settlement.error, HasSubstr("down (1 attempt made (max_attempts = 1))"));
}

// An order that has expired must not be paid late.
TEST_F(AttemptTest, AHandlerIsNotRunAfterTheDeadlineOfItsTask) {
  handle([] { return detail::Reply{}; });
  const TimePoint past = shared.clock.now() - 1s;
  const RunPtr run = claimed_as([&](task::TaskRecord& record) { record.rules.deadline = past; });
  const auto settlement = attempt(*run);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(settlement.outcome, Outcome::exhausted);
}

TEST_F(AttemptTest, AFinalFailureIsStoredBeforeItsCallbackRuns) {
  handle([] { return detail::Reply{.answer = give_up("closed")}; });
  int told = 0;
  on_final_failure([&](const Failure&) { ++told; });
  const auto settlement = attempt(*claim());
  EXPECT_EQ(told, 0);
  EXPECT_EQ(settlement.kind, Kind::advance);
  EXPECT_EQ(settlement.stage, Stage::on_final_failure);
  EXPECT_EQ(settlement.outcome, Outcome::rejected);
  EXPECT_EQ(settlement.delay, 0ms);
}

TEST_F(AttemptTest, ACallbackThatThrowsIsRetriedAndTheReasonOfTheFailureStays) {
  handle([] { return detail::Reply{}; });
  on_final_failure([](const Failure&) { throw std::runtime_error("no mail"); });
  const RunPtr run = claimed_as([](task::TaskRecord& record) {
    record.info.stage = Stage::on_final_failure;
    record.info.outcome = Outcome::rejected;
    record.info.last_error = "closed";
    record.callback_attempts = 1;
  });
  const auto settlement = attempt(*run);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(settlement.kind, Kind::retry);
  EXPECT_GT(settlement.delay, 0ms);
  EXPECT_EQ(settlement.error, "");
}

TEST_F(AttemptTest, ACallbackIsGivenUpAfterSixteenTries) {
  handle([] { return detail::Reply{}; });
  on_final_failure([](const Failure&) { throw std::runtime_error("no mail"); });
  const RunPtr run = claimed_as([](task::TaskRecord& record) {
    record.info.stage = Stage::on_final_failure;
    record.info.outcome = Outcome::rejected;
    record.callback_attempts = kCallbackAttempts;
  });
  const auto settlement = attempt(*run);
  EXPECT_EQ(settlement.kind, Kind::finish);
  EXPECT_EQ(settlement.outcome, Outcome::rejected);
  EXPECT_EQ(instance.core.stats().callbacks_abandoned, 1U);
}

TEST_F(AttemptTest, ATaskThatKeepsKillingItsWorkerIsQuarantinedWithoutARun) {
  handle([] { return detail::Reply{}; });
  const int most = instance.core.options().max_crashes;
  const RunPtr run = claimed_as([&](task::TaskRecord& record) { record.info.crashes = most; });
  const auto settlement = attempt(*run);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(settlement.outcome, Outcome::quarantined);
}

TEST_F(AttemptTest, ArgumentsOfANewerReleaseAreLeftToIt) {
  handle([] { return detail::Reply{}; });
  const RunPtr run = claimed_as([](task::TaskRecord& record) { record.payload_version = 2; });
  const auto settlement = attempt(*run);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(settlement.kind, Kind::hand_back);
  EXPECT_EQ(settlement.delay, 30s);
}

TEST_F(AttemptTest, NothingBeginsOnceTheLeaseIsInDoubt) {
  handle([] { return detail::Reply{}; });
  const RunPtr run = claim();
  shared.clock.advance(instance.core.options().lease);
  EXPECT_EQ(attempt(*run).kind, Kind::hand_back);
  EXPECT_EQ(calls, 0);
}

// A store whose reply to a renewal takes longer than the lease.
class LateRenewals final : public storage::MemoryStore {
 public:
  explicit LateRenewals(testing::ManualClock& clock) : MemoryStore({}, clock), clock_(clock) {}
  Result<storage::Applied> renew(std::span<const storage::Renewal> renewals) override {
    auto reply = MemoryStore::renew(renewals);
    clock_.advance(renewals.front().lease);
    return reply;
  }

 private:
  testing::ManualClock& clock_;
};

TEST_F(AttemptTest, NothingBeginsIfTheLeaseExpiresWhileItIsConfirmed) {
  SharedStore slow;
  slow.store = std::make_shared<LateRenewals>(slow.clock);
  VirtualInstance late{slow};
  late.handle("pay", [this] { ++calls; });
  const TaskId id = late.submit("pay", "k");
  late.claim();
  const RunPtr run = late.core.in_flight().find(id);
  slow.clock.advance(late.core.options().lease / 2);
  EXPECT_EQ(engine::attempt(*run, late.core.context()).kind, Kind::hand_back);
  EXPECT_EQ(calls, 0);
}

TEST_F(AttemptTest, AnEngineThatStopsHandsItsTaskBackUncounted) {
  RunPtr run;
  handle([&]() -> detail::Reply {
    run->interrupt_with(Interrupt::draining);
    throw std::runtime_error("stopped");
  });
  run = claim();
  EXPECT_EQ(attempt(*run).kind, Kind::hand_back);
}

TEST_F(AttemptTest, InTwoHalvesItIsTheSame) {
  handle([] { return detail::Reply{}; }, Policy{.backoff = Fixed{7s}});
  const RunPtr run = claim();
  const AttemptStart start = begin_attempt(*run, instance.core.context());
  EXPECT_FALSE(start.instead);
  EXPECT_EQ(start.arguments, "[]");
  const auto settlement =
      end_attempt(*run, instance.core.context(), Called{Called::End::failed, "502 from the gateway"});
  EXPECT_EQ(settlement.kind, Kind::retry);
  EXPECT_EQ(settlement.delay, 7s);
  EXPECT_EQ(calls, 0) << "another instance ran it";
}

}  // namespace
}  // namespace easyretry::engine
