// Events, filters, callbacks on the way, and what a handler can know and say of its own task.

#include <future>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

#include "support/temp_folder.h"

namespace easyretry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Timeout : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

EngineOptions quiet() {
  EngineOptions options;
  options.log = nullptr;
  return options;
}

struct Listeners : ::testing::Test {
  easyretry::testing::ManualEngine engine{quiet()};
  std::vector<std::string> seen;

  void listen() {
    engine.on_event([this](const Event& event) { seen.emplace_back(to_string(event.kind)); });
  }
};

TEST_F(Listeners, HearEveryStepOfATaskInOrder) {
  listen();
  int calls = 0;
  auto pay = engine.retryable("pay",
                              [&](int) {
                                if (++calls == 1) throw Timeout("slow");
                              },
                              {.backoff = Fixed{1s}});
  pay.submit(1);
  engine.drain();
  EXPECT_THAT(seen, ElementsAre("stored", "claimed", "attempt failed", "retry scheduled", "claimed", "succeeded"));
}

TEST_F(Listeners, HearHowATaskEnds) {
  listen();
  auto exhausted = engine.retryable("exhausted", [](int) { throw Timeout("slow"); }, {.stop = {.max_attempts = 1}});
  auto rejected = engine.retryable("rejected", [](int) { return give_up("unknown"); });
  auto cancelled = engine.retryable("cancelled", [](int) {});
  auto parked = engine.retryable("parked", [](int) {});
  exhausted.submit(1);
  engine.run_due();
  EXPECT_EQ(seen.back(), "gave up");
  rejected.submit(1);
  engine.run_due();
  EXPECT_EQ(seen.back(), "gave up");
  engine.cancel(cancelled.submit_after(1h, 1));
  EXPECT_EQ(seen.back(), "cancelled");
}

TEST_F(Listeners, AreToldTheTaskAndTheMessage) {
  std::vector<Event> events;
  engine.on_event([&](const Event& event) { events.push_back(event); });
  auto pay = engine.retryable("pay", [](int) { throw Timeout("slow"); }, {.backoff = Fixed{7s}});
  SubmitOptions options;
  options.business_id = "order-7";
  pay.with(options).submit(1);
  engine.run_due();
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[3].kind, EventKind::retry_scheduled);
  EXPECT_EQ(events[3].message, "slow");
  EXPECT_EQ(events[3].task.business_id, "order-7");
  EXPECT_EQ(events[3].task.attempts, 1);
  EXPECT_EQ(events[3].task.next_at, engine.clock().now() + 7s);
}

TEST_F(Listeners, ThatThrowAreCountedAndChangeNothing) {
  engine.on_event([](const Event&) { throw std::runtime_error("bug"); });
  auto pay = engine.retryable("pay", [](int) {});
  const TaskId id = pay.submit(1);
  engine.run_due();
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
  EXPECT_EQ(engine.stats().listener_failures, 3U);
}

TEST_F(Listeners, OnAQueueHoldUpNeitherTheEngineNorItsEnd) {
  // Outlives the test: the listener hangs in it for ever.
  static auto* const hang = new std::promise<void>;
  const std::shared_future<void> never{hang->get_future()};
  engine.on_event([never](const Event&) { never.wait(); }, Delivery::queued);
  auto pay = engine.retryable("pay", [](int) {});
  std::vector<int> many(4000);
  std::iota(many.begin(), many.end(), 0);
  pay.submit_many(many);
  engine.run_due();
  EXPECT_EQ(engine.stats().succeeded, 4000U);
  EXPECT_EQ(engine.stats().events_dropped, 12'000U - 10'001U) << "one is being heard, 10,000 wait";
}

TEST_F(Listeners, OnAQueueHearEverythingInOrderBeforeTheEngineEnds) {
  {
    easyretry::testing::ManualEngine other{quiet()};
    other.on_event([this](const Event& event) { seen.emplace_back(to_string(event.kind)); }, Delivery::queued);
    other.retryable("pay", [](int) {}).submit(1);
    other.run_due();
  }
  EXPECT_THAT(seen, ElementsAre("stored", "claimed", "succeeded"));
}

TEST_F(Listeners, OnRetryScheduledIsToldWhyAndWhenAndMayThrow) {
  auto pay =
      engine.retryable("pay", [](int) { throw Timeout("slow"); }, {.backoff = Fixed{7s}, .stop = {.max_attempts = 3}});
  pay.on_retry_scheduled([&](const std::string& error, const TaskInfo& task) {
    seen.push_back(error + " again in " + std::to_string((task.next_at - engine.clock().now()).count()));
    throw std::runtime_error("bug");
  });
  EXPECT_TRUE(pay(1).stored());
  engine.drain();
  EXPECT_THAT(seen, ElementsAre("slow again in 7000", "slow again in 7000"));
  EXPECT_EQ(engine.stats().callback_failures, 2U);
}

struct Filters : Listeners {
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
                                if (++calls == 1) throw Timeout("slow");
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
                                if (++calls == 1) throw Timeout("slow");
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
    } catch (const Timeout& e) {
      throw Refused(std::string{"translated: "} + e.what());
    }
  });
  auto pay = engine.retryable("pay", [](int) { throw Timeout("slow"); }, {.never_retry = {type<Refused>()}});
  const TaskId id = pay.submit(1);
  engine.run_due();
  EXPECT_EQ(engine.find(id)->outcome, Outcome::rejected);
  EXPECT_EQ(engine.find(id)->last_error, "translated: slow");
}

TEST_F(Filters, WhatTheyMakeOfAnExceptionIsWhatTheCallerSees) {
  engine.add_filter([](AttemptScope&, const Proceed& proceed) {
    try {
      proceed();
    } catch (const Timeout& e) {
      throw Refused(std::string{"translated: "} + e.what());
    }
  });
  for (const Persist persist : {Persist::retry_only, Persist::on_failure, Persist::always, Persist::never}) {
    auto pay = engine.retryable("pay" + std::to_string(static_cast<int>(persist)), [](int) { throw Timeout("slow"); },
                                {.never_retry = {type<Refused>()}}, {.persist = persist});
    EXPECT_THROW(static_cast<void>(pay(1)), Refused);
  }
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

struct ContextTest : Listeners {};

TEST_F(ContextTest, AProgressNoteIsThereForTheNextAttemptAndForWhoeverLooks) {
  auto import = engine.retryable(
      "import",
      [&](int) {
        seen.push_back(current_task()->info.progress);
        EXPECT_TRUE(current_task()->progress("row " + std::to_string(current_task()->info.attempts * 100)));
        throw Timeout("slow");
      },
      {.backoff = Fixed{1s}, .stop = {.max_attempts = 3}});
  const TaskId id = import.submit(1);
  engine.drain();
  EXPECT_THAT(seen, ElementsAre("", "row 100", "row 200"));
  EXPECT_EQ(engine.find(id)->progress, "row 300");
}

TEST_F(ContextTest, ANoteThatIsTooLongIsCutBetweenCharacters) {
  auto import = engine.retryable("import", [&](int) {
    std::string note(999, 'x');
    current_task()->progress(note + "ü");
    throw Timeout("slow");
  });
  const TaskId id = import.submit(1);
  engine.run_due();
  EXPECT_EQ(engine.find(id)->progress, std::string(999, 'x'));
}

TEST_F(ContextTest, ALeaseThatWasMadeLongerHoldsThroughAPauseOfTheWholeProcess) {
  bool extended = false;
  auto import = engine.retryable("import", [&](int) {
    extended = current_task()->extend_lease(10min);
    engine.clock().advance(9min);
  });
  const TaskId id = import.submit(1);
  engine.run_due();
  EXPECT_TRUE(extended);
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
  EXPECT_EQ(engine.stats().leases_lost, 0U);
}

TEST_F(ContextTest, KnowsTheDeadlineAndWhetherThisIsTheFirstAttempt) {
  const TimePoint deadline = engine.clock().now() + 1h;
  std::vector<bool> first;
  auto pay = engine.retryable("pay",
                              [&](int) {
                                EXPECT_EQ(current_task()->deadline, deadline);
                                first.push_back(current_task()->first);
                                throw Timeout("slow");
                              },
                              {.backoff = Fixed{1s}, .stop = {.max_attempts = 2, .deadline = deadline}});
  pay.submit(1);
  engine.drain();
  EXPECT_THAT(first, ElementsAre(true, false));
}

struct Identity : Listeners {
  static SubmitOptions key(OnDuplicate on_duplicate) {
    SubmitOptions options;
    options.key = "order-7";
    options.on_duplicate = on_duplicate;
    return options;
  }
};

TEST_F(Identity, ALiveKeyIsKeptOrRejected) {
  auto pay = engine.retryable("pay", [](int) {});
  const TaskId first = pay.with(key(OnDuplicate::keep)).submit_after(1h, 1);
  EXPECT_EQ(pay.with(key(OnDuplicate::keep)).submit(2), first);
  try {
    pay.with(key(OnDuplicate::reject)).submit(3);
    FAIL() << "it was accepted";
  } catch (const DuplicateTask& e) {
    EXPECT_THAT(e.what(), HasSubstr("order-7"));
    EXPECT_THAT(e.what(), HasSubstr(to_string(first)));
  }
  engine.cancel(first);
  EXPECT_NE(pay.with(key(OnDuplicate::reject)).submit(3), first) << "it is live no more";
}

TEST_F(Identity, ALiveKeyMayGoOnByANewPolicy) {
  int calls = 0;
  auto pay = engine.retryable("pay",
                              [&](int) {
                                ++calls;
                                throw Timeout("slow");
                              },
                              {.backoff = Fixed{1s}, .stop = {.max_attempts = 2}});
  const TaskId id = pay.with(key(OnDuplicate::keep)).submit(1);
  engine.run_due();
  SubmitOptions patient = key(OnDuplicate::update_policy);
  patient.deadline = engine.clock().now() + 500ms;
  EXPECT_EQ(pay.with(patient).submit(1), id);
  engine.drain();
  EXPECT_EQ(calls, 1) << "the next attempt would have come after the new deadline";
  EXPECT_EQ(engine.find(id)->outcome, Outcome::exhausted);
}

TEST_F(Identity, TagsAndTheTraceTravelWithTheTask) {
  const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  SubmitOptions options;
  options.tags = {"vip", "eu"};
  options.traceparent = trace;
  auto pay = engine.retryable("pay", [&](int) {
    EXPECT_THAT(current_task()->info.tags, ElementsAre("vip", "eu"));
    EXPECT_EQ(current_task()->info.traceparent, trace);
    seen.emplace_back("ran");
  });
  pay.with(options).submit(1);
  engine.run_due();
  EXPECT_THAT(seen, ElementsAre("ran"));
}

TEST_F(Identity, WhatIsWrittenWrongIsRefusedWithTheRightForm) {
  auto pay = engine.retryable("pay", [](int) {});
  const auto refusal = [&](const SubmitOptions& options) -> std::string {
    try {
      pay.with(options).submit(1);
      return "accepted";
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
  };
  SubmitOptions options;
  options.traceparent = "00-0AF7-1-01";
  EXPECT_THAT(refusal(options), HasSubstr("00-<32 hex digits>"));
  options = {};
  options.tags.assign(9, "x");
  EXPECT_THAT(refusal(options), HasSubstr("9 tags; at most 8"));
  options.tags = {""};
  EXPECT_THAT(refusal(options), HasSubstr("a tag is empty"));
  EXPECT_EQ(engine.stats().stored, 0U);
}

// Two releases of one application, one after the other, on one store.
struct Payloads : ::testing::Test {
  test::TempFolder folder;
  std::string url = "sqlite:" + (folder.path() / "retry.db").string();
  std::vector<std::string> seen;

  TaskId submitted_by_release_1() {
    easyretry::testing::ManualEngine engine{quiet(), url};
    return engine.retryable("pay", [](const std::string&) {}).submit("7");
  }
  static HandlerOptions release_2(decltype(HandlerOptions::upgrade) upgrade) {
    HandlerOptions options;
    options.payload_version = 2;
    options.upgrade = std::move(upgrade);
    return options;
  }
};

TEST_F(Payloads, OldArgumentsAreUpgradedBeforeTheyAreDecoded) {
  const TaskId id = submitted_by_release_1();
  easyretry::testing::ManualEngine engine{quiet(), url};
  engine.retryable(
      "pay", [&](const std::string& order, int amount) { seen.push_back(order + "/" + std::to_string(amount)); }, {},
      release_2([](int from, std::string arguments) {
        EXPECT_EQ(from, 1);
        arguments.back() = ',';
        return arguments + "5]";
      }));
  engine.run_due();
  EXPECT_THAT(seen, ElementsAre("7/5"));
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
}

TEST_F(Payloads, AnUpgradeThatThrowsParksTheTask) {
  const TaskId id = submitted_by_release_1();
  easyretry::testing::ManualEngine engine{quiet(), url};
  engine.retryable(
      "pay", [](const std::string&, int) {}, {},
      release_2([](int, const std::string&) -> std::string { throw std::runtime_error("no amount"); }));
  engine.run_due();
  EXPECT_EQ(engine.find(id)->outcome, Outcome::parked);
  EXPECT_THAT(engine.find(id)->last_error, HasSubstr("version 1 could not be upgraded: no amount"));
}

TEST_F(Payloads, NewerArgumentsAreLeftToANewerRelease) {
  TaskId id{};
  {
    easyretry::testing::ManualEngine engine{quiet(), url};
    id = engine
             .retryable(
                 "pay", [](const std::string&, int) {}, {}, release_2({}))
             .submit("7", 5);
  }
  easyretry::testing::ManualEngine engine{quiet(), url};
  engine.retryable("pay", [&](const std::string&) { seen.emplace_back("ran"); });
  engine.run_due();
  EXPECT_THAT(seen, ElementsAre());
  EXPECT_EQ(engine.find(id)->state, TaskState::pending);
  EXPECT_EQ(engine.find(id)->attempts, 0);
  EXPECT_EQ(engine.find(id)->next_at, engine.clock().now() + 30s);
}

}  // namespace
}  // namespace easyretry
