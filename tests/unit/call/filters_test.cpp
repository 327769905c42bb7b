// Filters run around every attempt, the first and the retries.

#include "unit/call/support.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

struct Filters : ::testing::Test {
  ManualEngine engine{quiet()};
  std::vector<std::string> seen;

  void add(std::string name) {
    engine.add_filter([this, name](AttemptScope& attempt, const Proceed& proceed) {
      seen.push_back(name + " before " + std::to_string(attempt.number()));
      proceed();
      seen.push_back(name + " after");
    });
  }
};

TEST_F(Filters, RunInTheOrderTheyWereAddedAroundFirstAndRetriedAttempts) {
  add("a");
  add("b");
  int calls = 0;
  auto pay = engine.retryable("pay",
                              [&](int) {
                                seen.emplace_back("call");
                                if (++calls == 1) throw Busy("slow");
                              },
                              {.backoff = Fixed{1s}});
  EXPECT_TRUE(pay(1).stored());
  EXPECT_THAT(seen, ElementsAre("a before 1", "b before 1", "call"));
  seen.clear();
  engine.drain();
  EXPECT_THAT(seen, ElementsAre("a before 2", "b before 2", "call", "b after", "a after"));
}

TEST_F(Filters, TellFirstAttemptsFromRetries) {
  std::vector<bool> first;
  engine.add_filter([&](AttemptScope& attempt, const Proceed& proceed) {
    first.push_back(attempt.first());
    EXPECT_EQ(attempt.task() == nullptr, attempt.first()) << "a direct call is not stored yet";
    EXPECT_EQ(attempt.handler(), "pay");
    proceed();
  });
  int calls = 0;
  auto pay = engine.retryable("pay",
                              [&](int) {
                                if (++calls == 1) throw Busy("slow");
                              },
                              {.backoff = Fixed{1s}});
  EXPECT_TRUE(pay(1).stored());
  engine.drain();
  EXPECT_THAT(first, ElementsAre(true, false));
}

TEST_F(Filters, MayTranslateExceptions) {
  engine.add_filter([](AttemptScope&, const Proceed& proceed) {
    try {
      proceed();
    } catch (const Busy& e) {
      throw Closed(std::string{"translated: "} + e.what());
    }
  });
  auto pay = engine.retryable("pay", [](int) { throw Busy("slow"); }, {.never_retry = {type<Closed>()}});
  const TaskId id = pay.submit(1);
  engine.run_due();
  EXPECT_EQ(engine.find(id)->outcome, Outcome::rejected);
  EXPECT_EQ(engine.find(id)->last_error, "translated: slow");
}

TEST_F(Filters, TheExceptionTheyThrowIsTheOneTheCallerSees) {
  engine.add_filter([](AttemptScope&, const Proceed& proceed) {
    try {
      proceed();
    } catch (const Busy& e) {
      throw Closed(std::string{"translated: "} + e.what());
    }
  });
  for (const Persist persist : {Persist::retry_only, Persist::on_failure, Persist::always, Persist::never}) {
    auto pay = engine.retryable("pay" + std::to_string(static_cast<int>(persist)), [](int) { throw Busy("slow"); },
                                {.never_retry = {type<Closed>()}}, {.persist = persist});
    EXPECT_THROW(static_cast<void>(pay(1)), Closed);
  }
}

TEST_F(Filters, ThatKeepAnExceptionToThemselvesDoNotMakeASuccessOfIt) {
  engine.add_filter([](AttemptScope&, const Proceed& proceed) {
    try {
      proceed();
    } catch (const Busy&) {
      // logged somewhere
    }
  });
  auto pay = engine.retryable("pay", [](int) { throw Busy("slow"); }, {.backoff = Fixed{1s}});
  const TaskId id = pay.submit(1);
  engine.run_due();
  EXPECT_EQ(engine.find(id)->state, TaskState::pending);
  EXPECT_EQ(engine.find(id)->last_error, "slow");
  EXPECT_EQ(pay(2).error(), "slow");
}

TEST_F(Filters, MayCallTheFunctionAgainAndTheLatestRunCounts) {
  engine.add_filter([](AttemptScope&, const Proceed& proceed) {
    try {
      proceed();
    } catch (const Busy&) {
      proceed();
    }
  });
  int calls = 0;
  auto pay = engine.retryable("pay", [&](int) {
    if (++calls == 1) throw Busy("slow");
    return calls;
  });
  EXPECT_EQ(*pay(1), 2);
}

TEST_F(Filters, CannotAnswerDoneForAHandlerThatOwesAValue) {
  engine.add_filter([](AttemptScope& attempt, const Proceed&) { attempt.answer(done()); });
  auto notify = engine.retryable("notify", [](int) {});
  EXPECT_TRUE(notify(1));
  auto pay = engine.retryable("pay", [](int) { return 7; });
  const auto paid = pay(1);
  EXPECT_TRUE(paid.stored());
  EXPECT_THAT(paid.error(), HasSubstr("returns a value"));
}

TEST_F(Filters, MayHoldAnAttemptBackWithoutCallingTheFunction) {
  engine.add_filter([](AttemptScope& attempt, const Proceed&) { attempt.answer(retry_after(5min, "circuit open")); });
  int calls = 0;
  auto pay = engine.retryable("pay", [&](int) { return ++calls; });
  const TaskId id = pay.submit(1);
  engine.run_due();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(engine.find(id)->last_error, "circuit open");
  EXPECT_EQ(engine.find(id)->next_at, engine.clock().now() + 5min);
  const auto direct = pay(2);
  EXPECT_TRUE(direct.stored());
  EXPECT_EQ(direct.error(), "circuit open");
}

TEST_F(Filters, ThatSayNothingFailTheAttemptWithAReason) {
  engine.add_filter([](AttemptScope&, const Proceed&) {});
  auto pay = engine.retryable("pay", [](int) {});
  const TaskId id = pay.submit(1);
  engine.run_due();
  EXPECT_THAT(engine.find(id)->last_error, HasSubstr("neither called proceed() nor gave an answer"));
}

TEST_F(Filters, MayAddContextThatTheHandlerSees) {
  engine.add_filter([](AttemptScope& attempt, const Proceed& proceed) {
    attempt.set("tenant", "acme");
    proceed();
  });
  auto pay = engine.retryable("pay", [&](int) { seen.emplace_back(current_attempt()->value("tenant")); });
  pay.submit(1);
  engine.run_due();
  EXPECT_TRUE(pay(2));
  EXPECT_THAT(seen, ElementsAre("acme", "acme"));
  EXPECT_EQ(current_attempt(), nullptr);
}

}  // namespace
}  // namespace easyretry::test
