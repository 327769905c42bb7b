// The life of a submitted task, on a manual clock.

#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

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

TEST_F(EngineTest, RejectsErrorsThatAreNotWorthRetrying) {
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

}  // namespace
}  // namespace easyretry::test
