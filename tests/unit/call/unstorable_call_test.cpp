// A call that cannot be stored: the caller gets its value or its failure, and learns why.

#include "unit/call/direct_call_fixture.h"

namespace easyretry::test {

// A linked list that may have a cycle.
struct Link {
  const Link* next = nullptr;
};

}  // namespace easyretry::test

template <>
struct easyretry::JsonCodec<easyretry::test::Link> {
  static void write(JsonWriter& out, const test::Link& link) {
    out.begin_array();
    if (link.next != nullptr) write(out, *link.next);
    out.end_array();
  }
  static test::Link read(JsonView) { return {}; }
};

namespace easyretry::test {
namespace {

TEST_F(DirectCall, AnArgumentThatHoldsItselfIsRefusedBeforeAnythingIsStored) {
  Link ring;
  ring.next = &ring;
  auto walk = engine.retryable("walk", [](const Link&) { throw Busy("the gateway is busy"); });
  EXPECT_THAT(refusal([&] { walk.submit(ring); }), HasSubstr("deeper than 64 levels"));
  try {
    static_cast<void>(walk(ring));
    FAIL() << "it was accepted";
  } catch (const JsonError& e) {
    EXPECT_THAT(e.what(), HasSubstr("deeper than 64 levels"));
    EXPECT_THROW(std::rethrow_if_nested(e), Busy);
  }
  EXPECT_EQ(engine.stats().stored, 0U);
}

// Takes arguments of 20 bytes at most.
EngineOptions tiny() {
  EngineOptions options = quiet();
  options.max_payload = 20;
  return options;
}

TEST_F(DirectCall, AFailureThatCannotBeStoredShowsBothFailures) {
  ManualEngine small{tiny()};
  for (const Persist persist : {Persist::retry_only, Persist::never}) {
    auto pay = small.retryable("pay" + std::to_string(static_cast<int>(persist)),
                               [](const std::string&) { throw Busy("the gateway is busy"); }, {},
                               {.persist = persist, .wait = false});
    try {
      static_cast<void>(pay(std::string(100, 'x')));
      FAIL() << "it was accepted";
    } catch (const std::invalid_argument& e) {
      EXPECT_THAT(e.what(), HasSubstr("at most 20"));
      EXPECT_THROW(std::rethrow_if_nested(e), Busy);
    }
  }
}

TEST_F(DirectCall, ASuccessIsReturnedEvenIfItsArgumentsCannotBeStored) {
  ManualEngine small{tiny()};
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
  ManualEngine small{tiny()};
  small.on_event([](const Event&) {});
  auto pay = small.retryable("pay", [](const std::string&) { throw Busy("the gateway is busy"); });
  try {
    static_cast<void>(pay(std::string(100, 'x')));
    FAIL() << "it was accepted";
  } catch (const std::invalid_argument& e) {
    EXPECT_THROW(std::rethrow_if_nested(e), Busy);
  }
}

// Text that is not UTF-8 cannot be written as JSON at all.
TEST_F(DirectCall, ArgumentsThatAreNoJsonDoNotHideTheFailure) {
  for (const bool heard : {false, true}) {
    ManualEngine other{quiet()};
    if (heard) other.on_event([](const Event&) {});
    for (const Persist persist : {Persist::retry_only, Persist::on_failure, Persist::never}) {
      auto pay = other.retryable("pay" + std::to_string(static_cast<int>(persist)),
                                 [](const std::string&) { throw Busy("the gateway is busy"); }, {},
                                 {.persist = persist, .wait = false});
      try {
        static_cast<void>(pay("\xff"));
        FAIL() << "it was accepted";
      } catch (const JsonError& e) {
        EXPECT_THAT(e.what(), HasSubstr("UTF-8"));
        EXPECT_THROW(std::rethrow_if_nested(e), Busy);
      }
    }
  }
}

TEST_F(DirectCall, CallbacksAreToldOfACallWhoseArgumentsAreNoJson) {
  auto pay = engine.retryable("pay", [](const std::string&) { throw Busy("the gateway is busy"); },
                              {.backoff = Fixed{1s}, .stop = {.max_attempts = 2}}, {.persist = Persist::never});
  pay.on_final_failure([this](const Failure&, const TaskInfo& task) { told.push_back(task.handler + task.key); });
  EXPECT_THROW(static_cast<void>(pay("\xff")), Busy);
  EXPECT_THAT(told, ElementsAre("pay")) << "without a key, because the arguments have no JSON form";
}

TEST_F(DirectCall, AHandlerWhoseResultIsNoJsonHasSucceededAndIsNotCalledAgain) {
  auto name = [this](int) {
    ++calls;
    return std::string{"\xff"};
  };
  auto read = engine.retryable("read", name, {.backoff = Fixed{1s}});
  read.on_success([this](const TaskInfo&) { told.emplace_back("told"); });
  EXPECT_TRUE(read(1));
  const TaskId task = read.submit(2);
  engine.drain();
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(told, ElementsAre("told", "told"));
  EXPECT_EQ(engine.find(task)->outcome, Outcome::succeeded);
}

TEST_F(DirectCall, ACallbackThatIsOwedAResultThatIsNoJsonIsGivenUpWithTheReason) {
  auto read = engine.retryable("read", [this](int) {
    ++calls;
    return std::string{"\xff"};
  });
  read.on_success([this](const std::string& text, const TaskInfo&) { told.push_back(text); });
  const TaskId task = read.submit(2);
  engine.drain();
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(told, ElementsAre());
  EXPECT_EQ(engine.find(task)->outcome, Outcome::succeeded);
  EXPECT_THAT(engine.find(task)->last_error, HasSubstr("could not be written as JSON"));
}

TEST_F(DirectCall, AnExpressionCannotJudgeAResultThatIsNoJson) {
  auto read = engine.retryable("read", [](int) { return std::string{"\xff"}; },
                               {.backoff = Fixed{1s}, .success_when = "result == 'x'"});
  EXPECT_THAT(read(1).error(), HasSubstr("UTF-8"));
}

}  // namespace
}  // namespace easyretry::test
