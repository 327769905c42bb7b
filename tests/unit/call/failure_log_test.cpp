// Final failures in the log: of stored tasks, of direct calls, and of retries in memory.

#include <boost/exception/all.hpp>
#include <boost/stacktrace.hpp>

#include "unit/call/support.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::Not;
using ::testing::SizeIs;

struct FailureLog : ::testing::Test {
  EngineOptions logged() {
    EngineOptions options;
    options.log = [this](LogLevel level, std::string_view text) {
      log.push_back((level == LogLevel::warning ? "warning: " : "other: ") + std::string{text});
    };
    return options;
  }
  auto pay_with(Policy policy) {
    policy.backoff = Fixed{1s};
    const auto gateway = [](const std::string& order) {
      if (order != "fine") throw Busy("the gateway is busy");
    };
    return engine.retryable("pay", gateway, policy);
  }
  // The call, with a key that is easy to find; its exception is expected.
  template <class Pay>
  void fail(const Pay& pay) {
    EXPECT_THROW(static_cast<void>(pay.with({.key = "order-1"})("c4n4ry")), Busy);
  }
  static auto failure_after(int attempts, const std::string& outcome = "exhausted") {
    return AllOf(HasSubstr("warning: "), HasSubstr("(pay, key order-1) ended as " + outcome),
                 HasSubstr(" after " + std::to_string(attempts) + " attempt(s): the gateway is busy"),
                 HasSubstr("[easyretry::test::Busy"), Not(HasSubstr("c4n4ry")));
  }

  std::vector<std::string> log;
  ManualEngine engine{logged()};
};

TEST_F(FailureLog, HasAStoredTaskWithHandlerKeyAttemptsTypeAndMessage) {
  auto pay = pay_with({.stop = {.max_attempts = 2}});
  pay.submit("fine");
  pay.with({.key = "order-1"}).submit("c4n4ry");
  engine.drain();
  EXPECT_THAT(log, ElementsAre(failure_after(2)));
}

TEST_F(FailureLog, LogsATaskOnceNoMatterWhatItsCallbackDoes) {
  auto pay = pay_with({.stop = {.max_attempts = 2}});
  int told = 0;
  pay.on_final_failure([&](const Failure&, const TaskInfo&) {
    if (++told == 1) throw std::runtime_error("no mail");
  });
  pay.with({.key = "order-1"}).submit("c4n4ry");
  engine.drain();
  EXPECT_EQ(told, 2);
  EXPECT_THAT(log, ElementsAre(failure_after(2), HasSubstr("a callback threw: no mail")));
}

TEST_F(FailureLog, HasADirectCallThatGetsNoSecondAttempt) {
  for (const Persist persist : {Persist::retry_only, Persist::on_failure, Persist::always, Persist::never}) {
    log.clear();
    ManualEngine other{logged()};
    auto pay = other.retryable("pay", [](const std::string&) { throw Busy("the gateway is busy"); },
                               {.stop = {.max_attempts = 1}}, {.persist = persist});
    fail(pay);
    other.drain();
    EXPECT_THAT(log, ElementsAre(failure_after(1))) << static_cast<int>(persist);
  }
}

// The live task is of an earlier call, so there is no row for this one.
TEST_F(FailureLog, HasADirectCallWhoseKeyIsThatOfALiveTask) {
  ManualEngine other{logged()};
  auto pay = other.retryable("pay", [](const std::string&) { throw Busy("the gateway is busy"); },
                             {.stop = {.max_attempts = 1}}, {.persist = Persist::on_failure});
  pay.with({.key = "order-1"}).submit_after(1h, "c4n4ry");
  fail(pay);
  EXPECT_THAT(log, ElementsAre(failure_after(1)));
}

TEST_F(FailureLog, SaysThatACallbackIsNotCalledAgainBecauseItsKeyIsThatOfALiveTask) {
  ManualEngine other{logged()};
  auto pay = other.retryable("pay", [](const std::string&) { throw Busy("the gateway is busy"); },
                             {.stop = {.max_attempts = 1}}, {.persist = Persist::on_failure});
  pay.on_final_failure([](const Failure&, const TaskInfo&) { throw std::runtime_error("no mail"); });
  pay.with({.key = "order-1"}).submit_after(1h, "c4n4ry");
  fail(pay);
  EXPECT_THAT(log, Contains(AllOf(HasSubstr("could not be stored to be called again"),
                                  HasSubstr("a task with the key order-1 is live"))));
  EXPECT_THAT(log, Contains(failure_after(1)));
  EXPECT_EQ(other.stats().callbacks_abandoned, 1U);
}

TEST_F(FailureLog, HasADirectCallWhoseCallbackIsLeftToTheEngineOnce) {
  auto pay = pay_with({.stop = {.max_attempts = 1}});
  int told = 0;
  pay.on_final_failure([&](const Failure&, const TaskInfo&) {
    if (++told == 1) throw std::runtime_error("no mail");
  });
  fail(pay);
  engine.drain();
  EXPECT_EQ(told, 2);
  EXPECT_THAT(log, ElementsAre(HasSubstr("a callback threw: no mail"), failure_after(1)));
}

TEST_F(FailureLog, HasRetriesInMemoryWhetherTheCallerWaitsOrNot) {
  for (const bool wait : {true, false}) {
    log.clear();
    ManualEngine other{logged()};
    auto pay =
        other.retryable("pay", [](const std::string&) { throw Busy("the gateway is busy"); },
                        {.backoff = Fixed{1s}, .stop = {.max_attempts = 3}}, {.persist = Persist::never, .wait = wait});
    if (wait) {
      fail(pay);
    } else {
      EXPECT_EQ(pay.with({.key = "order-1"})("c4n4ry").state(), AttemptState::retrying);
      other.drain();
    }
    EXPECT_THAT(log, ElementsAre(failure_after(3)));
  }
}

TEST_F(FailureLog, LeavesErrorsThatAreNotWorthARetryToTheCaller) {
  fail(pay_with({.never_retry = {type<Busy>()}}));
  EXPECT_THAT(log, SizeIs(0)) << "no task, no callback: the caller has the exception";
}

TEST_F(FailureLog, HasARejectionOfAStoredTask) {
  pay_with({.never_retry = {type<Busy>()}}).with({.key = "order-1"}).submit("c4n4ry");
  engine.drain();
  EXPECT_THAT(log, ElementsAre(failure_after(1, "rejected")));
}

TEST_F(FailureLog, HasATaskThatAUserFailsOnceWithAndWithoutACallback) {
  auto pay = pay_with({});
  auto told = engine.retryable("told", [](int) {});
  told.on_final_failure([](const Failure&, const TaskInfo&) {});
  for (const bool heard : {false, true}) {
    log.clear();
    const TaskId id = heard ? told.submit_after(1h, 1) : pay.submit_after(1h, "c4n4ry");
    EXPECT_TRUE(engine.fail(id, "paper jam"));
    EXPECT_THAT(log, ElementsAre(HasSubstr(" ended as rejected after 0 attempt(s): paper jam"))) << "when it is stored";
    engine.drain();
    EXPECT_THAT(log, SizeIs(1)) << "and not again when the owner was told";
  }
}

TEST_F(FailureLog, HasARetryInMemoryThatAUserFailsOnce) {
  auto pay = engine.retryable("pay", [](const std::string&) { throw Busy("the gateway is busy"); },
                              {.backoff = Fixed{1h}}, {.persist = Persist::never, .wait = false});
  pay.on_final_failure([](const Failure&, const TaskInfo&) {});
  EXPECT_TRUE(engine.fail(pay("c4n4ry").task(), "paper jam"));
  engine.drain();
  EXPECT_THAT(log, ElementsAre(HasSubstr(": paper jam; last error: the gateway is busy")));
}

TEST_F(FailureLog, LeavesOutCancellations) {
  auto pay = pay_with({});
  engine.cancel(pay.submit("c4n4ry"));
  engine.drain();
  EXPECT_THAT(log, SizeIs(0));
}

TEST_F(FailureLog, NamesTheTypesOfNestedExceptionsAndOfThoseThatAreNotStandard) {
  struct Odd {};
  auto odd = engine.retryable("odd",
                              [](int how) {
                                if (how == 1) throw 42;
                                if (how == 2) throw Odd{};
                                try {
                                  throw Busy("the gateway is busy");
                                } catch (...) {
                                  std::throw_with_nested(std::runtime_error("not paid"));
                                }
                              },
                              {.stop = {.max_attempts = 1}});
  for (const int how : {1, 2, 3}) odd.submit(how);
  engine.drain();
  EXPECT_THAT(log, Contains(HasSubstr("unknown exception (1 attempt made (max_attempts = 1)) [int")));
  EXPECT_THAT(log, Contains(HasSubstr("::Odd")));
  EXPECT_THAT(log, Contains(AllOf(HasSubstr("not paid: the gateway is busy"),
                                  HasSubstr("[std::runtime_error, nested easyretry::test::Busy"))));
}

TEST_F(FailureLog, IsNotFloodedByOneHandler) {
  auto pay = pay_with({.stop = {.max_attempts = 1}});
  for (int i = 0; i < 1000; ++i) pay.submit(std::to_string(i));
  auto mail = engine.retryable("mail", [](int) { throw Closed("no such address"); }, {.stop = {.max_attempts = 1}});
  mail.submit(1);
  engine.drain();
  EXPECT_THAT(log, SizeIs(11)) << "ten of one, and one of the other";
  EXPECT_THAT(log, Contains(HasSubstr("(mail, key ")));

  engine.clock().advance(1s);
  engine.run_due();
  ASSERT_THAT(log, SizeIs(12));
  EXPECT_EQ(log.back(), "warning: 990 more final failure(s) of pay were not logged; at most 10 per second are");
  pay.submit("again");
  engine.drain();
  EXPECT_THAT(log, SizeIs(13)) << "a new second";
}

TEST_F(FailureLog, IsPrintedByTheDefaultSink) {
  ManualEngine usual{EngineOptions{}};
  auto pay = usual.retryable("pay", [](int) { throw Busy("the gateway is busy"); }, {.stop = {.max_attempts = 1}});
  ::testing::internal::CaptureStderr();
  pay.with({.key = "order-1"}).submit(1);
  usual.drain();
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(printed, AllOf(HasSubstr("easyretry: warning: task "), HasSubstr("(pay, key order-1) ended as exhausted"),
                             EndsWith("[easyretry::test::Busy]\n")));
}

using Trace = boost::error_info<struct TraceTag, boost::stacktrace::stacktrace>;

// As docs/calls.md shows it.
TEST_F(FailureLog, HasTheStackTraceThatTheApplicationAttached) {
  EngineOptions options = logged();
  options.failure_details = [](const std::exception_ptr&) -> std::string {
    const auto* attached = boost::current_exception_cast<boost::exception>();
    const auto* trace = attached == nullptr ? nullptr : boost::get_error_info<Trace>(*attached);
    return trace == nullptr ? "" : boost::stacktrace::to_string(*trace);
  };
  ManualEngine traced{options};
  const auto fail = [](bool with_trace) {
    if (!with_trace) throw Busy("busy");
    throw boost::enable_error_info(Busy("busy")) << Trace{boost::stacktrace::stacktrace()};
  };
  auto pay = traced.retryable("pay", fail, {.stop = {.max_attempts = 1}});
  pay.submit(true);
  traced.drain();
  pay.submit(false);
  traced.drain();
  ASSERT_THAT(log, SizeIs(2));
  EXPECT_THAT(log[0], AllOf(HasSubstr("Busy>: "), HasSubstr(" 0# "), HasSubstr(" 1# "), HasSubstr(" 2# ")));
  EXPECT_THAT(log[1], EndsWith("[easyretry::test::Busy]"));
}

TEST_F(FailureLog, SurvivesDetailsThatThrow) {
  EngineOptions options = logged();
  options.failure_details = [](const std::exception_ptr&) -> std::string { throw std::runtime_error("no symbols"); };
  ManualEngine other{options};
  auto pay = other.retryable("pay", [](int) { throw Busy("busy"); }, {.stop = {.max_attempts = 1}});
  pay.submit(1);
  other.drain();
  EXPECT_THAT(log, ElementsAre(HasSubstr("[easyretry::test::Busy: failure_details threw: no symbols]")));
}

}  // namespace
}  // namespace easyretry::test
