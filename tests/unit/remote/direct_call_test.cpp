// pay(order) with a daemon instead of a store: the same table of strategies.

#include "unit/remote/support.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

struct RemoteDirectCall : RemoteTest {
  auto pay_with(Persist persist, Policy policy = {}) {
    auto pay = engine.retryable("pay",
                                [this](const Order&) {
                                  ++calls;
                                  if (during) during();
                                  if (busy-- > 0) throw Busy("the gateway is busy");
                                  if (closed) throw Closed("the account is closed");
                                  return Receipt{200};
                                },
                                quick(std::move(policy)), {.persist = persist});
    pay.on_success([this](const Receipt& receipt, const TaskInfo& task) {
      told = std::to_string(receipt.code) + " after " + std::to_string(task.attempts);
    });
    pay.on_final_failure([this](const Failure& failure, const TaskInfo&) { told = failure.message; });
    return pay;
  }

  std::size_t live() const { return engine.list({}).size(); }

  RemoteEngine engine{url, options()};
  std::function<void()> during;
  std::atomic<int> calls{0};
  std::atomic<int> busy{0};
  bool closed = false;
  std::string told;  // by callbacks; the engine has stopped when it is read
};

TEST_F(RemoteDirectCall, ASuccessNeedsNoDaemon) {
  auto pay = pay_with(Persist::retry_only);
  daemon.reset();
  EXPECT_EQ(pay({"o1", 5})->code, 200);
}

TEST_F(RemoteDirectCall, AFailureIsInTheDaemonWithItsPolicyWhenTheCallReturns) {
  auto pay = pay_with(Persist::retry_only, {.stop = {.max_attempts = 7, .max_duration = 1h}});
  busy = 1;
  const auto paid = pay.with({.business_type = "order", .business_id = "o1", .tags = {"eu"}})({"o1", 5});
  ASSERT_TRUE(paid.stored());
  EXPECT_EQ(paid.error(), "the gateway is busy");
  const auto task = engine.find(paid.task()).value();
  EXPECT_EQ(task.state, TaskState::pending);
  EXPECT_EQ(task.attempts, 1);
  EXPECT_EQ(task.last_error, "the gateway is busy");
  EXPECT_EQ(task.business_id, "o1");
  EXPECT_EQ(task.tags, std::vector<std::string>{"eu"});
  EXPECT_EQ(task.key, pay.key_of({"o1", 5}));
}

TEST_F(RemoteDirectCall, ARetryRunsHereAndItsOwnerIsNotified) {
  auto pay = pay_with(Persist::retry_only);
  busy = 2;
  const auto paid = pay({"o1", 5});
  engine.start();
  ASSERT_TRUE(eventually([&] { return ended(engine, paid.task(), Outcome::succeeded); }));
  engine.stop();
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(told, "200 after 3");
}

TEST_F(RemoteDirectCall, AnErrorThatIsNotWorthRetryingIsThrownAndNotStored) {
  auto pay = pay_with(Persist::retry_only);
  closed = true;
  EXPECT_THROW((void)pay({"o1", 5}), Closed);
  EXPECT_EQ(live(), 0U);
  EXPECT_TRUE(engine.list({.finished = true}).empty());
}

TEST_F(RemoteDirectCall, OnFailureLeavesATaskThatIsNotWorthRetryingInHistory) {
  auto pay = pay_with(Persist::on_failure);
  closed = true;
  EXPECT_THROW((void)pay({"o1", 5}), Closed);
  const auto ended = engine.list({.finished = true});
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended.front().outcome, Outcome::rejected);
}

TEST_F(RemoteDirectCall, AlwaysIsLeasedByTheCallerWhileItRuns) {
  auto pay = pay_with(Persist::always);
  std::vector<TaskInfo> seen;
  during = [&] { seen = engine.list({}); };
  EXPECT_TRUE(pay({"o1", 5}));
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen.front().state, TaskState::running);
  EXPECT_TRUE(ended(engine, seen.front().id, Outcome::succeeded));
}

TEST_F(RemoteDirectCall, AlwaysGoesOnAfterAFirstFailure) {
  auto pay = pay_with(Persist::always);
  busy = 1;
  const auto paid = pay({"o1", 5});
  ASSERT_TRUE(paid.stored());
  engine.start();
  EXPECT_TRUE(eventually([&] { return ended(engine, paid.task(), Outcome::succeeded); }));
  EXPECT_EQ(calls, 2);
}

TEST_F(RemoteDirectCall, AlwaysDoesNotRunBesideALiveTaskOfItsKey) {
  auto pay = pay_with(Persist::always);
  const TaskId waiting = pay.submit({"o1", 5});
  const auto paid = pay({"o1", 5});
  EXPECT_TRUE(paid.stored());
  EXPECT_EQ(paid.task(), waiting);
  EXPECT_EQ(calls, 0);
}

TEST_F(RemoteDirectCall, NeverAsksTheDaemonForNothing) {
  auto pay = pay_with(Persist::never);
  busy = 2;
  daemon.reset();
  EXPECT_TRUE(pay({"o1", 5}));
  EXPECT_EQ(calls, 3);
}

TEST_F(RemoteDirectCall, AnExpressionIsJudgedHereAndNotByTheDaemon) {
  auto pay = pay_with(Persist::retry_only, {.stop = {.max_attempts = 2}, .success_when = "result.code == 201"});
  const auto paid = pay({"o1", 5});
  ASSERT_TRUE(paid.stored());
  engine.start();
  ASSERT_TRUE(eventually([&] { return ended(engine, paid.task(), Outcome::exhausted); }));
  engine.stop();
  EXPECT_THAT(told, HasSubstr("not a success according to success_when: result.code == 201"));
}

}  // namespace
}  // namespace easyretry::test
