// What an application sees of an engine, on the manual clock.

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
  double amount = 0;
};
EASYRETRY_JSON(Order, id, amount)

struct Busy : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Closed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

EngineOptions quiet() {
  EngineOptions options;
  options.log = nullptr;
  return options;
}

struct EngineTest : ::testing::Test {
  easyretry::testing::ManualEngine engine{quiet()};
  int calls = 0;
};

TEST_F(EngineTest, RunsASubmittedTaskOnce) {
  std::vector<std::string> seen;
  auto pay = engine.retryable("pay", [&](const Order& order) { seen.push_back(order.id); });
  const TaskId id = pay.submit(Order{"7", 1.5});
  EXPECT_EQ(engine.find(id)->state, TaskState::pending);
  EXPECT_EQ(engine.run_due(), 1U);
  EXPECT_EQ(engine.run_due(), 0U);
  EXPECT_THAT(seen, ElementsAre("7"));
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
}

TEST_F(EngineTest, PassesSeveralArgumentsByValueAndByReference) {
  std::string seen;
  auto join = engine.retryable("join", [&](std::string a, const int& b, std::vector<double> c) {
    seen = a + std::to_string(b) + std::to_string(c.size());
  });
  join.submit("x", 3, {1.0, 2.0});
  engine.run_due();
  EXPECT_EQ(seen, "x32");
}

TEST_F(EngineTest, RetriesByThePolicyUntilItSucceeds) {
  auto pay = engine.retryable(
      "pay",
      [&](const Order&) {
        if (++calls < 3) throw Busy("busy");
      },
      Policy{.backoff = Ladder{5s, 30s}});
  const TaskId id = pay.submit(Order{"7"});
  engine.run_due();
  EXPECT_EQ(engine.find(id)->next_at, engine.clock().now() + 5s);
  EXPECT_EQ(engine.find(id)->last_error, "busy");
  engine.clock().advance(5s);
  engine.run_due();
  EXPECT_EQ(engine.find(id)->next_at, engine.clock().now() + 30s);
  engine.clock().advance(30s);
  engine.run_due();
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
  EXPECT_EQ(engine.find(id)->attempts, 3);
}

TEST_F(EngineTest, GivesUpAfterMaxAttemptsAndTellsTheOwner) {
  std::vector<std::string> told;
  auto pay = engine.retryable(
      "pay",
      [&](const Order&) {
        ++calls;
        throw Busy("busy");
      },
      Policy{.backoff = Fixed{1s}, .stop = {.max_attempts = 3}});
  pay.on_final_failure([&](const Failure& failure, const TaskInfo& task) {
    EXPECT_EQ(failure.outcome, Outcome::exhausted);
    EXPECT_EQ(task.attempts, 3);
    told.push_back(failure.message);
  });
  const TaskId id = pay.submit(Order{"7"});
  engine.drain();
  EXPECT_EQ(calls, 3);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0], HasSubstr("busy"));
  EXPECT_THAT(told[0], HasSubstr("max_attempts"));
  EXPECT_EQ(engine.find(id)->outcome, Outcome::exhausted);
}

TEST_F(EngineTest, StopsAtTheDeadlineOfTheTaskWithoutRunningIt) {
  auto pay = engine.retryable("pay", [&](const Order&) { ++calls; });
  const TaskId id = pay.with({.deadline = engine.clock().now() + 10s}).submit_after(5s, Order{"7"});
  engine.clock().advance(11s);
  engine.run_due();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(engine.find(id)->outcome, Outcome::exhausted);
  EXPECT_THAT(engine.find(id)->last_error, HasSubstr("deadline"));
}

TEST_F(EngineTest, EndsAtOnceWhenTheNextAttemptWouldComeAfterMaxDuration) {
  auto pay = engine.retryable(
      "pay",
      [&](const Order&) {
        ++calls;
        throw Busy("busy");
      },
      Policy{.backoff = Fixed{1min}, .stop = {.max_duration = 90s}});
  const TaskId id = pay.submit(Order{"7"});
  engine.drain();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(engine.find(id)->outcome, Outcome::exhausted);
  EXPECT_EQ(engine.clock().now() - engine.find(id)->created_at, 60s);
}

TEST_F(EngineTest, RejectsWhatIsNotWorthRetrying) {
  auto pay = engine.retryable(
      "pay",
      [&](const Order&) {
        ++calls;
        throw Closed("account closed");
      },
      Policy{.never_retry = {type<Closed>()}});
  const TaskId id = pay.submit(Order{"7"});
  engine.drain();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(engine.find(id)->outcome, Outcome::rejected);
  EXPECT_EQ(engine.find(id)->last_error, "account closed");
}

TEST_F(EngineTest, UnderstandsExplicitAnswers) {
  auto work = engine.retryable(
      "work",
      [&](const std::string& what) -> Answer {
        ++calls;
        if (what == "later" && calls == 1) return retry_later("not yet");
        if (what == "after" && calls == 1) return retry_after(7min);
        if (what == "never") return give_up("no such account");
        return done();
      },
      Policy{.backoff = Fixed{1s}});
  const auto later = work.submit("later");
  engine.run_due();
  EXPECT_EQ(engine.find(later)->next_at, engine.clock().now() + 1s);
  engine.drain();
  EXPECT_EQ(engine.find(later)->outcome, Outcome::succeeded);

  calls = 0;
  const auto after = work.submit("after");
  engine.run_due();
  EXPECT_EQ(engine.find(after)->next_at, engine.clock().now() + 7min);
  engine.drain();
  EXPECT_EQ(engine.find(after)->outcome, Outcome::succeeded);

  const auto never = work.submit("never");
  engine.drain();
  EXPECT_EQ(engine.find(never)->outcome, Outcome::rejected);
  EXPECT_EQ(engine.find(never)->last_error, "no such account");
}

TEST_F(EngineTest, JudgesTheResultBySuccessWhen) {
  auto pay = engine.retryable(
      "pay", [&](const Order&) { return ++calls < 3 ? 503 : 200; },
      Policy{.backoff = Fixed{1s}, .success_when = "result == 200 and args[1].id == '7'"});
  std::vector<int> codes;
  pay.on_success([&](int code, const TaskInfo&) { codes.push_back(code); });
  const TaskId id = pay.submit(Order{"7"});
  engine.drain();
  EXPECT_EQ(calls, 3);
  EXPECT_THAT(codes, ElementsAre(200));
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
}

TEST_F(EngineTest, SurvivesHandlersThatThrowAnything) {
  auto odd = engine.retryable(
      "odd",
      [&](int what) {
        if (what == 0) throw 42;      // NOLINT
        if (what == 1) throw "text";  // NOLINT
        throw std::bad_alloc();
      },
      Policy{.stop = {.max_attempts = 1}});
  std::vector<TaskId> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(odd.submit(i));
  engine.drain();
  EXPECT_THAT(engine.find(ids[0])->last_error, HasSubstr("unknown exception"));
  EXPECT_THAT(engine.find(ids[1])->last_error, HasSubstr("text"));
  EXPECT_THAT(engine.find(ids[2])->last_error, HasSubstr("bad_alloc"));
}

TEST_F(EngineTest, RetriesAFailedSuccessCallbackAloneWithTheSameResult) {
  std::vector<int> results;
  auto pay = engine.retryable("pay", [&](const Order&) { return 100 + ++calls; });
  pay.on_success([&](int result, const TaskInfo& task) {
    results.push_back(result);
    if (results.size() < 3) throw std::runtime_error("ledger is down");
    EXPECT_EQ(task.stage, Stage::on_success);
  });
  const TaskId id = pay.submit(Order{"7"});
  engine.run_due();
  EXPECT_EQ(engine.find(id)->stage, Stage::on_success);
  EXPECT_EQ(engine.find(id)->state, TaskState::pending);
  engine.drain();
  EXPECT_EQ(calls, 1) << "the handler is not run again";
  EXPECT_THAT(results, ElementsAre(101, 101, 101));
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
  EXPECT_EQ(engine.stats().callback_failures, 2U);
}

TEST_F(EngineTest, RetriesAFailedFinalFailureCallbackWithTheSameMessage) {
  std::vector<std::string> messages;
  auto pay = engine.retryable("pay", [&](const Order&) -> Answer {
    ++calls;
    return give_up("closed");
  });
  pay.on_final_failure([&](const Failure& failure, const TaskInfo&) {
    EXPECT_EQ(failure.outcome, Outcome::rejected);
    messages.push_back(failure.message);
    if (messages.size() < 3) throw std::runtime_error("pager is down");
  });
  const TaskId id = pay.submit(Order{"7"});
  engine.drain();
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(messages, ElementsAre("closed", "closed", "closed"));
  EXPECT_EQ(engine.find(id)->outcome, Outcome::rejected);
}

TEST_F(EngineTest, AbandonsACallbackThatNeverWorksButKeepsTheOutcome) {
  auto pay = engine.retryable("pay", [&](const Order&) {});
  int callbacks = 0;
  pay.on_success([&](const TaskInfo&) {
    ++callbacks;
    throw std::runtime_error("broken");
  });
  const TaskId id = pay.submit(Order{"7"});
  engine.drain();
  EXPECT_EQ(callbacks, 16);
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
  EXPECT_THAT(engine.find(id)->last_error, HasSubstr("callback given up"));
  EXPECT_EQ(engine.stats().callbacks_abandoned, 1U);
}

TEST_F(EngineTest, KeepsOneLiveTaskPerKey) {
  auto pay = engine.retryable("pay", [&](const Order&) { ++calls; });
  const TaskId first = pay.submit(Order{"7", 1});
  EXPECT_EQ(pay.submit(Order{"7", 1}), first) << "equal arguments are the same task";
  EXPECT_NE(pay.submit(Order{"7", 2}), first);
  EXPECT_EQ(pay.with({.key = "a"}).submit(Order{"8"}), pay.with({.key = "a"}).submit(Order{"9"}));
  engine.drain();
  EXPECT_EQ(calls, 3);
  EXPECT_NE(pay.submit(Order{"7", 1}), first) << "a finished task does not block its key";
}

TEST_F(EngineTest, RunsNothingBeforeItsTime) {
  auto pay = engine.retryable("pay", [&](int) { ++calls; });
  pay.submit_after(10s, 1);
  pay.submit_at(engine.clock().now() + 20s, 2);
  EXPECT_EQ(engine.run_due(), 0U);
  engine.clock().advance(9999ms);
  EXPECT_EQ(engine.run_due(), 0U);
  engine.clock().advance(1ms);
  EXPECT_EQ(engine.run_due(), 1U);
  engine.clock().advance(10s);
  EXPECT_EQ(engine.run_due(), 1U);
}

TEST_F(EngineTest, SubmitsManyEachAtItsOwnTime) {
  std::vector<int> seen;
  auto pay = engine.retryable("pay", [&](int i) { seen.push_back(i); });
  pay.submit_many(std::vector{3, 1, 2}, [&](int i) { return SubmitOptions{.due_at = engine.clock().now() + i * 1s}; });
  engine.drain();
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

TEST_F(EngineTest, SubmitsManyWithTheirOwnOptions) {
  auto pay = engine.retryable("pay", [&](const Order&) { ++calls; });
  std::vector<Order> orders;
  for (int i = 0; i < 2500; ++i) orders.push_back({std::to_string(i), 1});
  const auto ids =
      pay.submit_many(orders, [](const Order& o) { return SubmitOptions{.key = "o" + o.id, .business_id = o.id}; });
  ASSERT_EQ(ids.size(), 2500U);
  EXPECT_EQ(engine.find(ids[42])->key, "o42");
  EXPECT_EQ(engine.find(ids[42])->business_id, "42");
  EXPECT_EQ(engine.run_due(), 2500U);
  EXPECT_EQ(calls, 2500);
}

TEST_F(EngineTest, CancelEndsAWaitingTaskAndTellsTheOwner) {
  auto pay = engine.retryable("pay", [&](int) { ++calls; });
  const TaskId silent = pay.submit_after(10s, 1);
  EXPECT_TRUE(engine.cancel(silent));
  EXPECT_EQ(engine.find(silent)->outcome, Outcome::cancelled);
  EXPECT_FALSE(engine.cancel(silent));

  std::vector<Outcome> told;
  pay.on_final_failure([&](const Failure& failure, const TaskInfo&) { told.push_back(failure.outcome); });
  const TaskId loud = pay.submit_after(10s, 2);
  EXPECT_TRUE(engine.cancel(loud));
  engine.drain();
  EXPECT_EQ(calls, 0);
  EXPECT_THAT(told, ElementsAre(Outcome::cancelled));
  EXPECT_EQ(engine.find(loud)->outcome, Outcome::cancelled);
  EXPECT_FALSE(engine.cancel(TaskId{12345}));
}

TEST_F(EngineTest, CancelFromInsideTheHandlerStopsItAndItsResultChangesNothing) {
  TaskId id{};
  auto pay = engine.retryable("pay", [&](int) {
    EXPECT_FALSE(current_task()->stop.stop_requested());
    EXPECT_TRUE(engine.cancel(id));
    EXPECT_TRUE(current_task()->stop.stop_requested());
  });
  id = pay.submit(1);
  engine.drain();
  EXPECT_EQ(engine.find(id)->outcome, Outcome::cancelled);
  EXPECT_EQ(engine.stats().stale_settles, 1U);
}

TEST_F(EngineTest, ShowsTheRunningTaskToItsHandlerOnly) {
  EXPECT_EQ(current_task(), nullptr);
  auto pay = engine.retryable("pay", [&](int) {
    ASSERT_NE(current_task(), nullptr);
    EXPECT_EQ(current_task()->info.handler, "pay");
    EXPECT_EQ(current_task()->info.attempts, 1);
    EXPECT_GT(current_task()->info.version, 1);
  });
  pay.submit(1);
  engine.run_due();
  EXPECT_EQ(current_task(), nullptr);
}

TEST_F(EngineTest, ParksATaskWhoseStoredArgumentsDoNotFit) {
  const test::TempFolder folder;
  const std::string url = folder.sqlite_url();
  TaskId id{};
  {
    easyretry::testing::ManualEngine before{quiet(), url};
    id = before.retryable("pay", [](int) {}).submit(1);
  }
  easyretry::testing::ManualEngine after{quiet(), url};
  auto pay = after.retryable("pay", [&](const Order&) { ++calls; });
  std::vector<std::string> told;
  pay.on_final_failure([&](const Failure& failure, const TaskInfo&) { told.push_back(failure.message); });
  after.drain();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(after.find(id)->outcome, Outcome::parked);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0], HasSubstr("do not fit"));
}

TEST_F(EngineTest, LeavesTasksOfUnknownHandlersAloneUntilSomeoneRegistersThem) {
  const test::TempFolder folder;
  const std::string url = folder.sqlite_url();
  TaskId id{};
  {
    easyretry::testing::ManualEngine before{quiet(), url};
    id = before.retryable("old.name", [](int) {}).submit(1);
  }
  easyretry::testing::ManualEngine after{quiet(), url};
  after.retryable("new.name", [](int) {});
  EXPECT_EQ(after.run_due(), 0U);
  EXPECT_TRUE(after.find(id)->no_handler);
  EXPECT_EQ(after.find(id)->attempts, 0);
  EXPECT_EQ(after.find(id)->deliveries, 0);
  EXPECT_EQ(after.stats().no_handler.at("old.name"), 1U);

  after.retryable("old.name", [&](int) { ++calls; });
  EXPECT_EQ(after.run_due(), 1U);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(after.stats().no_handler.empty());
}

TEST_F(EngineTest, ApplicationsSharingAStoreDoNotSeeEachOthersTasks) {
  // One store, two spaces: an id of one is unknown to the other.
  const test::TempFolder folder;
  const std::string url = folder.sqlite_url();
  TaskId id{};
  {
    EngineOptions shop = quiet();
    shop.space = "shop";
    easyretry::testing::ManualEngine engine_of_shop{shop, url};
    id = engine_of_shop.retryable("pay", [](int) {}).submit(1);
  }
  easyretry::testing::ManualEngine other{quiet(), url};
  other.retryable("pay", [&](int) { ++calls; });
  EXPECT_EQ(other.run_due(), 0U);
  EXPECT_FALSE(other.find(id));
  EXPECT_FALSE(other.cancel(id));
  EXPECT_EQ(calls, 0);
}

TEST_F(EngineTest, RefusesWhatCannotWorkWithAWordOnWhatToDo) {
  const auto message = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const std::exception& e) {
      return e.what();
    }
    return "nothing thrown";
  };
  engine.retryable("pay", [](int) {});
  EXPECT_THAT(message([&] { engine.retryable("pay", [](int) {}); }), HasSubstr("registered twice"));
  EXPECT_THAT(message([&] { engine.retryable("", [](int) {}); }), HasSubstr("a name has 1 to 200 characters"));
  EXPECT_THAT(message([&] {
                engine.retryable(
                    "a", [](int) {}, Policy{.backoff = Fixed{-1s}});
              }),
              HasSubstr("handler \"a\""));
  EXPECT_THAT(message([&] { engine.retryable("a", [](int) {}, {}, {.concurrency = -1}); }),
              HasSubstr("concurrency is -1"));
  EXPECT_THAT(message([&] {
                engine.retryable(
                    "a", [](int) { return 1; }, Policy{.success_when = "result =="});
              }),
              HasSubstr("success_when"));
  EXPECT_THAT(message([&] { engine.retryable("b", [](const std::string&) {}).submit(std::string(2 << 20, 'x')); }),
              HasSubstr("at most 1048576"));
  EXPECT_THAT(message([] { Engine bad{"sqlit:x.db"}; }), HasSubstr("sqlite"));
  EXPECT_THAT(message([] { Engine bad{"memory:", {.workers = 0}}; }), HasSubstr("workers is 0"));
  EXPECT_THAT(message([] { Engine bad{"memory:", {.lease = -1ms}}; }), HasSubstr("lease is -1 ms"));
}

TEST_F(EngineTest, AHandleThatOutlivesItsEngineSaysSo) {
  auto make = [] {
    easyretry::testing::ManualEngine short_lived{quiet()};
    return short_lived.retryable("pay", [](int) {});
  };
  EXPECT_THROW(make().submit(1), std::logic_error);
}

}  // namespace
}  // namespace easyretry
