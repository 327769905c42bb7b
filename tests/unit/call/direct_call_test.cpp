// pay(order): what the caller sees and what the store holds at each moment, for every persist strategy.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

#include "support/temp_folder.h"

namespace easyretry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Order {
  std::string id;
};
EASYRETRY_JSON(Order, id)

struct Receipt {
  int code = 0;
};
EASYRETRY_JSON(Receipt, code)

struct Busy : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Closed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct DirectCall : ::testing::Test {
  static EngineOptions quiet() {
    EngineOptions options;
    options.log = nullptr;
    return options;
  }

  // A gateway that fails as often as asked, then answers 200.
  auto gateway() {
    return [this](const Order& order) {
      ++calls;
      if (during) during(order);
      if (busy > 0) {
        --busy;
        throw Busy("the gateway is busy");
      }
      if (closed) throw Closed("the account is closed");
      return Receipt{bad_codes-- > 0 ? 500 : 200};
    };
  }

  auto pay_with(Persist persist, Policy policy = {}) {
    policy.backoff = Fixed{10s};
    policy.never_retry = {type<Closed>()};
    auto pay = engine.retryable("pay", gateway(), policy, {.persist = persist});
    pay.on_success([this](const Receipt& receipt, const TaskInfo&) { told.push_back(std::to_string(receipt.code)); });
    pay.on_final_failure([this](const Failure& failure, const TaskInfo&) { told.push_back(failure.message); });
    return pay;
  }

  std::size_t live() const {
    const auto stats = engine.stats();
    return stats.stored - stats.succeeded - stats.exhausted - stats.rejected - stats.cancelled;
  }

  easyretry::testing::ManualEngine engine{quiet()};
  std::function<void(const Order&)> during;
  int calls = 0;
  int busy = 0;
  int bad_codes = 0;
  bool closed = false;
  std::vector<std::string> told;
};

// retry_only

TEST_F(DirectCall, RetryOnlyASuccessIsReturnedAndToldAndNothingIsStored) {
  auto pay = pay_with(Persist::retry_only);
  auto paid = pay(Order{"7"});
  ASSERT_TRUE(paid);
  EXPECT_EQ(paid->code, 200);
  EXPECT_EQ((*paid).code, 200);
  EXPECT_EQ(paid.task(), TaskId{});
  EXPECT_EQ(engine.stats().stored, 0U);
  EXPECT_THAT(told, ElementsAre("200"));
}

TEST_F(DirectCall, RetryOnlyAFailureWorthRetryingIsStoredBeforeTheCallReturnsAndThenSucceeds) {
  busy = 1;
  auto pay = pay_with(Persist::retry_only);
  auto paid = pay(Order{"7"});
  ASSERT_TRUE(paid.stored());
  EXPECT_FALSE(paid);
  EXPECT_EQ(paid.error(), "the gateway is busy");
  EXPECT_THROW(std::rethrow_exception(paid.exception()), Busy);
  EXPECT_THROW(paid.value(), NoValueYet);

  const auto row = engine.find(paid.task());
  ASSERT_TRUE(row);
  EXPECT_EQ(row->state, TaskState::pending);
  EXPECT_EQ(row->attempts, 1);
  EXPECT_EQ(row->last_error, "the gateway is busy");
  EXPECT_EQ(row->next_at, engine.clock().now() + 10s);
  EXPECT_EQ(engine.run_due(), 0U) << "it is not due yet";
  EXPECT_THAT(told, ElementsAre());

  engine.drain();
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(told, ElementsAre("200"));
  EXPECT_EQ(engine.find(paid.task())->outcome, Outcome::succeeded);
  EXPECT_EQ(engine.find(paid.task())->attempts, 2);
}

TEST_F(DirectCall, RetryOnlyTheFirstCallCountsAsAnAttempt) {
  busy = 100;
  auto pay = pay_with(Persist::retry_only, {.stop = {.max_attempts = 3}});
  const auto paid = pay(Order{"7"});
  engine.drain();
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(engine.find(paid.task())->outcome, Outcome::exhausted);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0], HasSubstr("the gateway is busy"));
}

TEST_F(DirectCall, RetryOnlyWhatIsNotWorthRetryingIsThrownAsItWasAndNotStored) {
  closed = true;
  auto pay = pay_with(Persist::retry_only);
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Closed);
  EXPECT_EQ(engine.stats().stored, 0U);
  EXPECT_THAT(told, ElementsAre());
}

TEST_F(DirectCall, RetryOnlyAResultThatIsNoSuccessIsStored) {
  bad_codes = 1;
  auto pay = pay_with(Persist::retry_only, {.success_when = "result.code == 200 and args[1].id == '7'"});
  auto paid = pay(Order{"7"});
  ASSERT_TRUE(paid.stored());
  EXPECT_FALSE(paid.has_value());
  EXPECT_EQ(paid.exception(), nullptr);
  EXPECT_THAT(paid.error(), HasSubstr("result.code == 200"));
  engine.drain();
  EXPECT_THAT(told, ElementsAre("200"));
}

TEST_F(DirectCall, ATypedConditionJudgesDirectCallsAndRetriesAlike) {
  bad_codes = 2;
  auto pay = pay_with(Persist::retry_only, {.success_when = [](const Receipt& r) { return r.code == 200; }});
  EXPECT_TRUE(pay(Order{"7"}).stored());
  engine.drain();
  EXPECT_EQ(calls, 3);
  EXPECT_THAT(told, ElementsAre("200"));
}

TEST_F(DirectCall, ATypedConditionForAnotherResultIsRefusedWithBothTypes) {
  try {
    engine.retryable(
        "x", [](int) { return 1; }, Policy{.success_when = [](const Receipt&) { return true; }});
    FAIL() << "it was accepted";
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), HasSubstr("handler \"x\": success_when takes easyretry::{anonymous}::Receipt"));
    EXPECT_THAT(e.what(), HasSubstr("but the handler returns int"));
  }
}

TEST_F(DirectCall, AFirstFailureThatIsAlsoTheLastIsToldAndThrownAndNotStored) {
  busy = 1;
  auto pay = pay_with(Persist::retry_only, {.stop = {.max_attempts = 1}});
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Busy);
  EXPECT_EQ(engine.stats().stored, 0U);
  ASSERT_EQ(told.size(), 1U);
}

TEST_F(DirectCall, AnOrdersOwnDeadlineStopsTheRetriesOfADirectCall) {
  busy = 100;
  auto pay = pay_with(Persist::retry_only);
  SubmitOptions options;
  options.deadline = engine.clock().now() + 25s;
  EXPECT_TRUE(pay.with(options)(Order{"7"}).stored());
  engine.drain();
  EXPECT_EQ(calls, 3) << "at 0, 10 and 20 s";
}

TEST_F(DirectCall, RethrowShowsTheFirstFailureToTheCallerAlthoughItIsStored) {
  busy = 1;
  auto pay = engine.retryable("pay", gateway(), {}, {.rethrow = true});
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Busy);
  EXPECT_EQ(engine.stats().stored, 1U);
  engine.drain();
  EXPECT_EQ(calls, 2);
}

TEST_F(DirectCall, ACallbackThatThrowsAfterADirectSuccessIsRetriedAlone) {
  auto pay = engine.retryable("pay", gateway());
  int told_times = 0;
  pay.on_success([&](const Receipt& receipt, const TaskInfo&) {
    if (++told_times == 1) throw std::runtime_error("the ledger is locked");
    EXPECT_EQ(receipt.code, 200);
  });
  EXPECT_TRUE(pay(Order{"7"}));
  engine.drain();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(told_times, 2);
  EXPECT_EQ(engine.stats().callback_failures, 1U);
}

TEST_F(DirectCall, TheSameArgumentsFailingTwiceAreOneTask) {
  busy = 2;
  auto pay = pay_with(Persist::retry_only);
  const auto first = pay(Order{"7"});
  const auto second = pay(Order{"7"});
  EXPECT_EQ(first.task(), second.task());
  EXPECT_EQ(engine.stats().stored, 1U);
}

// on_failure

TEST_F(DirectCall, OnFailureWhatIsNotWorthRetryingIsSeenInHistoryAndThrown) {
  closed = true;
  auto pay = pay_with(Persist::on_failure);
  std::vector<EventKind> events;
  TaskId id{};
  engine.on_event([&](const Event& event) {
    events.push_back(event.kind);
    id = event.task.id;
  });
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Closed);
  EXPECT_THAT(events, ElementsAre(EventKind::attempt_failed, EventKind::stored, EventKind::gave_up));
  ASSERT_TRUE(engine.find(id));
  EXPECT_EQ(engine.find(id)->state, TaskState::finished);
  EXPECT_EQ(engine.find(id)->outcome, Outcome::rejected);
  EXPECT_EQ(engine.find(id)->last_error, "the account is closed");
  EXPECT_EQ(engine.run_due(), 0U);
  EXPECT_THAT(told, ElementsAre()) << "the caller was told by the exception";
}

TEST_F(DirectCall, OnFailureAFirstFailureThatIsAlsoTheLastIsInHistoryToo) {
  busy = 1;
  auto pay = pay_with(Persist::on_failure, {.stop = {.max_attempts = 1}});
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Busy);
  EXPECT_EQ(engine.stats().exhausted, 1U);
  EXPECT_EQ(told.size(), 1U);
}

TEST_F(DirectCall, OnFailureAFailureWorthRetryingIsRetried) {
  busy = 1;
  auto pay = pay_with(Persist::on_failure);
  EXPECT_TRUE(pay(Order{"7"}).stored());
  engine.drain();
  EXPECT_THAT(told, ElementsAre("200"));
}

// always

TEST_F(DirectCall, AlwaysTheRowIsThereAndLeasedWhileTheFirstAttemptRuns) {
  auto pay = pay_with(Persist::always);
  bool seen = false;
  during = [&](const Order&) {
    const TaskContext* task = current_task();
    ASSERT_NE(task, nullptr);
    EXPECT_TRUE(task->first);
    EXPECT_EQ(task->info.attempts, 1);
    const auto row = engine.find(task->info.id);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->state, TaskState::running);
    EXPECT_EQ(engine.run_due(), 0U) << "nobody else runs it meanwhile";
    seen = true;
  };
  auto paid = pay(Order{"7"});
  EXPECT_TRUE(seen);
  ASSERT_TRUE(paid);
  EXPECT_EQ(paid->code, 200);
  EXPECT_THAT(told, ElementsAre("200"));
  EXPECT_EQ(engine.stats().succeeded, 1U);
  EXPECT_EQ(live(), 0U);
  EXPECT_EQ(current_task(), nullptr);
}

TEST_F(DirectCall, AlwaysAFailureLeavesTheRowPending) {
  busy = 1;
  auto pay = pay_with(Persist::always);
  auto paid = pay(Order{"7"});
  ASSERT_TRUE(paid.stored());
  const auto row = engine.find(paid.task());
  EXPECT_EQ(row->state, TaskState::pending);
  EXPECT_EQ(row->attempts, 1);
  EXPECT_EQ(row->next_at, engine.clock().now() + 10s);
  engine.drain();
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(told, ElementsAre("200"));
}

TEST_F(DirectCall, AlwaysWhatIsNotWorthRetryingRemovesTheRowAndIsThrown) {
  closed = true;
  auto pay = pay_with(Persist::always);
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Closed);
  EXPECT_EQ(engine.stats().rejected, 1U);
  EXPECT_EQ(live(), 0U);
  EXPECT_THAT(told, ElementsAre());
}

TEST_F(DirectCall, AlwaysACallWhoseTaskIsLiveAlreadyDoesNotRunBesideIt) {
  busy = 1;
  auto pay = pay_with(Persist::always);
  const auto first = pay(Order{"7"});
  const auto second = pay(Order{"7"});
  EXPECT_TRUE(second.stored());
  EXPECT_EQ(first.task(), second.task());
  EXPECT_EQ(calls, 1);
}

// manual

TEST_F(DirectCall, ManualACallOnlyCallsAndTheCallerJudges) {
  busy = 1;
  auto pay = pay_with(Persist::manual, {.success_when = "result.code == 200"});
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Busy);
  bad_codes = 1;
  auto paid = pay(Order{"7"});
  EXPECT_EQ(paid.state(), AttemptState::failed);
  EXPECT_EQ(paid->code, 500);
  EXPECT_TRUE(pay(Order{"7"}));
  EXPECT_EQ(engine.stats().stored, 0U);
  EXPECT_THAT(told, ElementsAre());
}

TEST_F(DirectCall, ManualWhatTheCallerStoresIsRetriedLikeAFailedFirstAttempt) {
  auto pay = pay_with(Persist::manual);
  const TaskId id = pay.store(Order{"7"}, "step 3 of the checkout failed");
  const auto row = engine.find(id);
  EXPECT_EQ(row->attempts, 1);
  EXPECT_EQ(row->last_error, "step 3 of the checkout failed");
  EXPECT_EQ(row->next_at, engine.clock().now() + 10s);
  engine.drain();
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(told, ElementsAre("200"));
}

TEST_F(DirectCall, ManualStoringWorksFromInsideAHandler) {
  auto pay = pay_with(Persist::manual);
  TaskId stored{};
  auto checkout = engine.retryable("checkout", [&](const Order& order) { stored = pay.store(order, "no money yet"); });
  checkout.submit(Order{"7"});
  engine.run_due();
  ASSERT_TRUE(engine.find(stored));
  EXPECT_EQ(engine.find(stored)->handler, "pay");
  engine.drain();
  EXPECT_EQ(calls, 1);
}

// never

TEST_F(DirectCall, NeverTheCallerWaitsThroughTheRetriesAndNothingIsStored) {
  busy = 2;
  auto pay = pay_with(Persist::never);
  const auto begun = engine.clock().now();
  auto paid = pay(Order{"7"});
  ASSERT_TRUE(paid);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(engine.clock().now() - begun, 20s);
  EXPECT_EQ(engine.stats().stored, 0U);
  EXPECT_THAT(told, ElementsAre("200"));
}

TEST_F(DirectCall, NeverTheLastFailureIsToldAndThrown) {
  busy = 100;
  auto pay = pay_with(Persist::never, {.stop = {.max_attempts = 3}});
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Busy);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(told.size(), 1U);
}

TEST_F(DirectCall, NeverInTheBackgroundTheCallerGoesOnAndTheEngineRetriesInMemory) {
  busy = 2;
  auto pay = engine.retryable("pay", gateway(), {.backoff = Fixed{10s}}, {.persist = Persist::never, .wait = false});
  pay.on_success([this](const Receipt& receipt, const TaskInfo&) { told.push_back(std::to_string(receipt.code)); });
  auto paid = pay(Order{"7"});
  EXPECT_EQ(paid.state(), AttemptState::retrying);
  EXPECT_EQ(calls, 1);
  engine.drain();
  EXPECT_EQ(calls, 3);
  EXPECT_THAT(told, ElementsAre("200"));
  EXPECT_EQ(engine.stats().stored, 0U);
}

TEST_F(DirectCall, NeverARetryInMemoryCanBeCancelledAndIsLostWithTheEngine) {
  busy = 100;
  auto pay = engine.retryable("pay", gateway(), {.backoff = Fixed{10s}}, {.persist = Persist::never, .wait = false});
  const auto first = pay(Order{"7"});
  const auto second = pay(Order{"8"});
  EXPECT_EQ(engine.find(first.task())->last_error, "the gateway is busy");
  EXPECT_TRUE(engine.cancel(first.task()));
  EXPECT_FALSE(engine.cancel(first.task()));
  engine.stop();
  EXPECT_EQ(engine.stats().lost_in_memory, 1U);
  EXPECT_EQ(calls, 2);
  EXPECT_NE(second.task(), first.task());
}

TEST_F(DirectCall, NeverInTheBackgroundMemoryIsBounded) {
  EngineOptions options = quiet();
  options.read_ahead = 1024;
  easyretry::testing::ManualEngine small{options};
  auto pay = small.retryable("pay", [](int) { throw Busy("the gateway is busy"); }, {},
                             {.persist = Persist::never, .wait = false});
  for (int i = 0; i < 1024; ++i) EXPECT_EQ(pay(i).state(), AttemptState::retrying);
  EXPECT_THROW(static_cast<void>(pay(1024)), Busy);
}

// The nesting guard

TEST_F(DirectCall, ACallInsideATaskGoesStraightThrough) {
  busy = 1;
  auto pay = pay_with(Persist::retry_only);
  int thrown = 0;
  auto checkout = engine.retryable("checkout",
                                   [&](const Order& order) {
                                     try {
                                       return pay(order)->code;
                                     } catch (const Busy&) {
                                       ++thrown;
                                       throw;
                                     }
                                   },
                                   {.backoff = Fixed{1s}});
  checkout.submit(Order{"7"});
  engine.drain();
  EXPECT_EQ(thrown, 1);
  EXPECT_EQ(engine.stats().stored, 1U) << "the checkout alone";
  EXPECT_EQ(calls, 2);
}

TEST_F(DirectCall, ACallInsideATaskIsJudgedAllTheSame) {
  bad_codes = 1;
  auto pay = pay_with(Persist::retry_only, {.success_when = "result.code == 200"});
  std::vector<AttemptState> states;
  auto checkout = engine.retryable("checkout", [&](const Order& order) {
    const auto paid = pay(order);
    states.push_back(paid.state());
    EXPECT_EQ(paid->code, states.size() == 1 ? 500 : 200);
  });
  checkout.submit(Order{"7"});
  checkout.submit(Order{"8"});
  engine.drain();
  EXPECT_THAT(states, ElementsAre(AttemptState::failed, AttemptState::succeeded));
  EXPECT_THAT(told, ElementsAre());
  EXPECT_EQ(engine.stats().stored, 2U);
}

TEST_F(DirectCall, TheGuardEndsWithTheTask) {
  auto pay = pay_with(Persist::retry_only);
  auto checkout = engine.retryable("checkout", [&](const Order&) { throw Closed("no"); });
  checkout.submit(Order{"7"});
  engine.run_due();
  busy = 1;
  EXPECT_TRUE(pay(Order{"8"}).stored());
}

TEST_F(DirectCall, ACallInsideARetryInMemoryGoesStraightThroughToo) {
  auto inner = engine.retryable("inner", [](int n) -> int { throw Busy("inner " + std::to_string(n)); });
  int outer_calls = 0;
  auto outer = engine.retryable("outer",
                                [&](int n) {
                                  if (++outer_calls == 1) throw Busy("first");
                                  return *inner(n);
                                },
                                {.backoff = Fixed{1s}, .stop = {.max_attempts = 3}}, {.persist = Persist::never});
  EXPECT_THROW(static_cast<void>(outer(1)), Busy);
  EXPECT_EQ(outer_calls, 3);
  EXPECT_EQ(engine.stats().stored, 0U);
}

// What can be called

int twice(int n) {
  return 2 * n;
}

struct Gateway {
  int fee = 1;
  int pay(const Order& order, int amount) const { return amount + fee + static_cast<int>(order.id.size()); }
};

TEST_F(DirectCall, FreeFunctionsLambdasAndMemberFunctionsAreCalledLikeThemselves) {
  Gateway gateway;
  EXPECT_EQ(*engine.retryable("free", twice)(21), 42);
  EXPECT_EQ(*engine.retryable("pointer", &twice, Policy{})(21), 42);
  EXPECT_EQ(*engine.retryable("member", &Gateway::pay, &gateway)(Order{"77"}, 10), 13);
  EXPECT_EQ(*engine.retryable("lambda", [](int a, const std::string& b,
                                           std::vector<int> c) { return a + static_cast<int>(b.size() + c.size()); })(
                1, "ab", {1, 2, 3}),
            6);
  EXPECT_TRUE(engine.retryable("void", [](int) {})(1));
  EXPECT_EQ(*engine.retryable("rvalue", [](std::string&& text) { return std::move(text); })("x"), "x");
}

TEST_F(DirectCall, ResultsAndFunctionsThatCanOnlyBeMovedAreMoved) {
  auto secret = std::make_unique<int>(4);
  auto make =
      engine.retryable("make", [secret = std::move(secret)](int n) { return std::make_unique<int>(*secret + n); });
  auto made = make(3);
  ASSERT_TRUE(made);
  std::unique_ptr<int> taken = *std::move(made);
  EXPECT_EQ(*taken, 7);
}

TEST_F(DirectCall, AnOpaqueResultNeedsNoJsonAndAnExpressionOverItIsRefused) {
  struct Session {
    int id;
  };
  auto open = engine.retryable("open", opaque([](int id) { return Session{id}; }), {.backoff = Fixed{1s}});
  EXPECT_EQ(open(3)->id, 3);
  EXPECT_THROW(
      engine.retryable("bad", opaque([](int id) { return Session{id}; }), Policy{.success_when = "result.id == 3"}),
      std::invalid_argument);
}

TEST_F(DirectCall, AnAnswerDecidesADirectCall) {
  Answer next = done();
  auto ask = engine.retryable("ask", [&](int) { return next; });
  EXPECT_TRUE(ask(1));
  next = retry_after(1h, "closed for lunch");
  const auto waiting = ask(1);
  ASSERT_TRUE(waiting.stored());
  EXPECT_EQ(engine.find(waiting.task())->next_at, engine.clock().now() + 1h);
  next = give_up("unknown customer");
  const auto refused = ask(2);
  EXPECT_EQ(refused.state(), AttemptState::failed);
  EXPECT_EQ(refused.error(), "unknown customer");
}

// What cannot be stored

TEST_F(DirectCall, AFailureThatCannotBeStoredShowsBothFailures) {
  EngineOptions options = quiet();
  options.max_payload = 20;
  easyretry::testing::ManualEngine small{options};
  auto pay = small.retryable("pay", [](const std::string&) { throw Busy("the gateway is busy"); });
  try {
    static_cast<void>(pay(std::string(100, 'x')));
    FAIL() << "it was accepted";
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), HasSubstr("at most 20"));
    EXPECT_THROW(std::rethrow_if_nested(e), Busy);
  }
}

TEST_F(DirectCall, ASuccessIsTheCallersAlsoWhereItsArgumentsCouldNotBeStored) {
  EngineOptions options = quiet();
  options.max_payload = 20;
  easyretry::testing::ManualEngine small{options};
  small.on_event([](const Event&) {});
  auto pay = small.retryable("pay", [](const std::string& text) { return text.size(); });
  pay.on_success([&](std::size_t, const TaskInfo& task) {
    told.push_back(task.handler);
    throw std::runtime_error("the ledger is locked");
  });
  const auto paid = pay(std::string(100, 'x'));
  ASSERT_TRUE(paid);
  EXPECT_EQ(*paid, 100U);
  EXPECT_THAT(told, ElementsAre("pay"));
  EXPECT_EQ(small.stats().callbacks_abandoned, 1U);
}

TEST_F(DirectCall, AListenerDoesNotHideTheFailureOfACallThatCannotBeStored) {
  EngineOptions options = quiet();
  options.max_payload = 20;
  easyretry::testing::ManualEngine small{options};
  small.on_event([](const Event&) {});
  auto pay = small.retryable("pay", [](const std::string&) { throw Busy("the gateway is busy"); });
  try {
    static_cast<void>(pay(std::string(100, 'x')));
    FAIL() << "it was accepted";
  } catch (const std::invalid_argument& e) {
    EXPECT_THROW(std::rethrow_if_nested(e), Busy);
  }
}

// The class form

struct PayTask : RetryableTask<Receipt(const Order&, int)> {
  Receipt execute(const Order&, const int& amount) override {
    if (++calls < 3) throw Busy("busy");
    return {calls < 4 ? 500 : amount};
  }
  bool is_success(const Receipt& receipt) override { return receipt.code != 500; }
  void on_success(const Receipt& receipt, const TaskInfo&) override { told = "paid " + std::to_string(receipt.code); }
  void on_final_failure(const Failure& failure, const TaskInfo&) override { told = failure.message; }
  int calls = 0;
  std::string told;
};

TEST_F(DirectCall, TheClassFormIsCalledJudgedAndToldLikeAFunction) {
  auto task = std::make_shared<PayTask>();
  auto pay = engine.retryable("pay", task, {.backoff = Fixed{1s}});
  EXPECT_TRUE(pay(Order{"7"}, 200).stored());
  engine.drain();
  EXPECT_EQ(task->calls, 4);
  EXPECT_EQ(task->told, "paid 200");
}

struct Notify : RetryableTask<void(std::string)> {
  void execute(const std::string&) override { throw Busy("nobody home"); }
  void on_final_failure(const Failure& failure, const TaskInfo&) override { told = failure.message; }
  std::string told;
};

struct Ask : RetryableTask<Answer(int)> {
  Answer execute(const int& n) override {
    return n < 0 ? give_up("negative") : ++calls < 2 ? retry_later("busy") : done();
  }
  void on_success(const Answer&, const TaskInfo&) override { told = "done"; }
  int calls = 0;
  std::string told;
};

TEST_F(DirectCall, TheClassFormMayAnswer) {
  auto task = std::make_shared<Ask>();
  RetryableFn<Answer(int)> ask = engine.retryable("ask", task, {.backoff = Fixed{1s}});
  EXPECT_TRUE(ask(1).stored());
  engine.drain();
  EXPECT_EQ(task->told, "done");
}

TEST_F(DirectCall, AnExpressionThatHasNothingToLookAtIsRefused) {
  const auto refusal = [](const auto& make) -> std::string {
    try {
      make();
      return "accepted";
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
  };
  const Policy policy{.success_when = "result == 200"};
  EXPECT_THAT(refusal([&] {
                engine.retryable(
                    "v", [](int) {}, policy);
              }),
              HasSubstr("returns nothing"));
  EXPECT_THAT(refusal([&] {
                engine.retryable(
                    "a", [](int) { return done(); }, policy);
              }),
              HasSubstr("Answer"));
}

TEST_F(DirectCall, ConditionsAddUp) {
  const SuccessWhen typed{[](int n) { return n > 1; }};
  const SuccessWhen expression{"result < 3"};
  for (const SuccessWhen& both : {typed.and_also(expression), expression.and_also(typed)}) {
    easyretry::testing::ManualEngine other{quiet()};
    auto same = other.retryable(
        "same", [](int n) { return n; }, Policy{.success_when = both});
    EXPECT_TRUE(same(1).stored());
    EXPECT_TRUE(same(2));
    EXPECT_TRUE(same(3).stored());
  }
}

TEST_F(DirectCall, TheClassFormWithoutAResultWorksToo) {
  auto task = std::make_shared<Notify>();
  auto notify = engine.retryable("notify", task, {.backoff = Fixed{1s}, .stop = {.max_attempts = 2}});
  EXPECT_TRUE(notify("alice").stored());
  engine.drain();
  EXPECT_THAT(task->told, HasSubstr("nobody home"));
}

}  // namespace
}  // namespace easyretry
