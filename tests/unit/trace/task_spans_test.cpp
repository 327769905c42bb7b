// The spans of tasks, as an application's listener gets them.

#include "engine/task_spans.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

#include "storage/open.h"

namespace easyretry {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const std::string kGiven = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const std::string kNotSampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

std::string trace_in(const std::string& traceparent) {
  return traceparent.substr(3, 32);
}
std::string span_in(const std::string& traceparent) {
  return traceparent.substr(36, 16);
}

std::string text_of(const Span& span, const std::string& name) {
  for (const auto& [key, value] : span.attributes) {
    if (key != name) continue;
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return std::to_string(std::get<std::int64_t>(value));
  }
  return "";
}

class TaskSpans : public ::testing::Test {
 protected:
  TaskSpans() {
    engine.on_span([this](const Span& span) { spans.push_back(span); });
  }

  // Fails so often, and takes a second each time.
  auto failing(int times) {
    return engine.retryable(
        "pay",
        [this, times](const std::string& name) mutable {
          seen.push_back(current_task()->info.traceparent);
          engine.clock().advance(1s);
          if (times-- > 0) throw std::runtime_error("no account \"" + name + "\" for 17");
        },
        Policy{.backoff = Fixed{5s}, .stop = {.max_attempts = 3}});
  }
  // Takes no time.
  auto always_failing(int attempts, HandlerOptions options = {}) {
    return engine.retryable(
        "pay", [](int) { throw std::runtime_error("no"); },
        Policy{.backoff = Fixed{5s}, .stop = {.max_attempts = attempts}}, std::move(options));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Span& span : spans) all.push_back(span.name);
    return all;
  }

  easyretry::testing::ManualEngine engine;
  std::vector<Span> spans;
  std::vector<std::string> seen;  // traceparents, by the handler
};

TEST_F(TaskSpans, ASubmitAndItsAttemptsAreOneTrace) {
  auto pay = failing(1);
  pay.submit("ann");
  engine.drain();
  ASSERT_THAT(names(), ElementsAre("submit pay", "attempt pay", "attempt pay"));
  EXPECT_EQ(spans[0].parent, "");
  for (const Span& span : spans) EXPECT_EQ(trace_in(span.traceparent), trace_in(spans[0].traceparent));
  EXPECT_EQ(spans[1].parent, span_in(spans[0].traceparent));
  EXPECT_EQ(spans[2].parent, span_in(spans[0].traceparent));
  EXPECT_NE(spans[1].traceparent, spans[2].traceparent);
}

TEST_F(TaskSpans, TheTraceOfTheSubmitterContinues) {
  auto pay = failing(0);
  pay.with({.traceparent = kGiven}).submit("ann");
  engine.drain();
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[0].parent, span_in(kGiven));
  EXPECT_EQ(trace_in(spans[1].traceparent), trace_in(kGiven));
}

TEST_F(TaskSpans, ARetryIsLinkedToTheAttemptBeforeIt) {
  auto pay = failing(2);
  pay.submit("ann");
  engine.drain();
  ASSERT_THAT(spans, SizeIs(4));
  EXPECT_THAT(spans[1].links, IsEmpty());
  EXPECT_THAT(spans[2].links, ElementsAre(spans[1].traceparent));
  EXPECT_THAT(spans[3].links, ElementsAre(spans[2].traceparent));
}

TEST_F(TaskSpans, ARetryOfAStoredCallIsNotLinkedToTheCallWhichHasNoSpan) {
  auto pay = always_failing(3);
  pay(1);
  engine.drain();
  ASSERT_THAT(names(), ElementsAre("submit pay", "attempt pay", "attempt pay"));
  EXPECT_EQ(text_of(spans[1], "easyretry.attempt"), "2");
  EXPECT_THAT(spans[1].links, IsEmpty());
  EXPECT_THAT(spans[2].links, ElementsAre(spans[1].traceparent));
}

TEST_F(TaskSpans, ARetryIsLinkedToAnAttemptThatFailedAtOnce) {
  auto pay = always_failing(2);
  pay.submit(1);
  engine.drain();
  ASSERT_THAT(spans, SizeIs(3));
  EXPECT_THAT(spans[2].links, ElementsAre(spans[1].traceparent));
}

TEST_F(TaskSpans, AFailedCallThatWasStoredFirstHasASpanAndIsLinkedTo) {
  auto pay = always_failing(2, {.persist = Persist::always});
  pay(1);
  engine.drain();
  ASSERT_THAT(names(), ElementsAre("submit pay", "attempt pay", "attempt pay"));
  EXPECT_THAT(spans[2].links, ElementsAre(spans[1].traceparent));
}

TEST_F(TaskSpans, TheHandlerFindsTheTraceparentOfItsAttempt) {
  auto pay = failing(1);
  pay.submit("ann");
  engine.drain();
  ASSERT_THAT(spans, SizeIs(3));
  EXPECT_THAT(seen, ElementsAre(spans[1].traceparent, spans[2].traceparent));
}

TEST_F(TaskSpans, TheStoredTaskKeepsTheTraceparentOfItsSubmitter) {
  auto pay = failing(1);
  const TaskId id = pay.with({.traceparent = kGiven}).submit("ann");
  engine.run_due();
  EXPECT_EQ(engine.find(id)->traceparent, kGiven);
}

TEST_F(TaskSpans, AnAttemptSaysHowItEndedAndHowLongItTook) {
  auto pay = failing(1);
  const TaskId id = pay.submit("ann");
  engine.drain();
  ASSERT_THAT(spans, SizeIs(3));
  EXPECT_EQ(spans[1].took, 1s);
  EXPECT_TRUE(spans[1].failed);
  EXPECT_EQ(text_of(spans[1], "easyretry.outcome"), "retry");
  EXPECT_EQ(text_of(spans[1], "easyretry.retry_in_ms"), "5000");
  EXPECT_EQ(text_of(spans[1], "easyretry.task.id"), to_string(id));
  EXPECT_EQ(spans[2].began_at, spans[1].began_at + 6s);
  EXPECT_FALSE(spans[2].failed);
  EXPECT_EQ(text_of(spans[2], "easyretry.outcome"), "succeeded");
  EXPECT_EQ(text_of(spans[2], "easyretry.attempt"), "2");
}

TEST_F(TaskSpans, TheLastAttemptSaysThatTheTaskIsExhausted) {
  auto pay = failing(3);
  pay.submit("ann");
  engine.drain();
  ASSERT_THAT(spans, SizeIs(4));
  EXPECT_TRUE(spans[3].failed);
  EXPECT_EQ(text_of(spans[3], "easyretry.outcome"), "exhausted");
}

TEST_F(TaskSpans, AnErrorHasItsKindAndNoArgument) {
  auto pay = failing(1);
  pay.submit("ann");
  engine.run_due();
  EXPECT_THAT(spans.back().error, HasSubstr("no account <text> for <number>"));
  for (const auto& [name, value] : spans.back().attributes)
    EXPECT_THAT(text_of(spans.back(), name), Not(HasSubstr("ann")));
}

TEST_F(TaskSpans, ATraceThatItsSubmitterDoesNotRecordIsPassedOnButNotTold) {
  auto pay = failing(1);
  pay.with({.traceparent = kNotSampled}).submit("ann");
  engine.drain();
  EXPECT_THAT(spans, IsEmpty());
  ASSERT_THAT(seen, SizeIs(2));
  EXPECT_EQ(trace_in(seen[0]), trace_in(kNotSampled));
  EXPECT_TRUE(seen[0].ends_with("-00"));
}

TEST_F(TaskSpans, ASecondSubmitWithTheSameKeyHasNoSpan) {
  auto pay = failing(0);
  pay.with({.key = "k"}).submit("ann");
  pay.with({.key = "k"}).submit("ann");
  EXPECT_THAT(names(), ElementsAre("submit pay"));
}

TEST_F(TaskSpans, ARequeuedTaskIsLinkedToTheLastAttemptOfTheEndedOne) {
  auto pay = failing(3);
  const TaskId id = pay.submit("ann");
  engine.drain();
  ASSERT_TRUE(engine.requeue(id));
  engine.drain();
  ASSERT_THAT(names(),
              ElementsAre("submit pay", "attempt pay", "attempt pay", "attempt pay", "requeue pay", "attempt pay"));
  EXPECT_THAT(spans[4].links, ElementsAre(spans[3].traceparent));
  EXPECT_EQ(spans[5].parent, span_in(spans[4].traceparent));
}

TEST_F(TaskSpans, AListenerThatThrowsIsCountedAndHurtsNoTask) {
  engine.on_span([](const Span&) { throw std::runtime_error("no"); });
  auto pay = failing(0);
  pay.submit("ann");
  engine.drain();
  EXPECT_EQ(engine.stats().succeeded, 1U);
  EXPECT_EQ(engine.stats().listener_failures, 2U);
}

// An attempt of task 7, number 2, as it is told.
Span attempt_told(engine::Interrupt interrupt, task::Settlement::Kind kind) {
  const auto store = storage::open_store("memory:", system_clock());
  engine::Context context{*store, system_clock(), {}, "me", 1};
  Span told;
  context.spans.add([&](const Span& span) { told = span; });
  task::TaskRecord record;
  record.info.id = TaskId{7};
  record.info.attempts = 2;
  record.info.version = 5;
  engine::Run run{record, nullptr, {}, Instant::max()};
  run.interrupt = interrupt;
  task::Settlement settlement;
  settlement.kind = kind;
  engine::tell_attempt(run, context, settlement);
  return told;
}

TEST(TaskTraceIds, AnAttemptThatDoesNotCountLeavesTheIdToTheOneThatDoes) {
  using Kind = task::Settlement::Kind;
  const Span counted = attempt_told(engine::Interrupt::none, Kind::finish);
  const Span lost = attempt_told(engine::Interrupt::lease_lost, Kind::finish);
  const Span handed_back = attempt_told(engine::Interrupt::draining, Kind::hand_back);
  EXPECT_NE(lost.traceparent, counted.traceparent);
  EXPECT_NE(handed_back.traceparent, counted.traceparent);
  EXPECT_EQ(lost.parent, counted.parent);
  EXPECT_EQ(text_of(handed_back, "easyretry.outcome"), "handed back");
  EXPECT_FALSE(handed_back.failed);
}

TEST(TaskTraceIds, AnAttemptThatASubmitterNamesWithoutAFailureIsNotLinkedTo) {
  EXPECT_THAT(attempt_told(engine::Interrupt::none, task::Settlement::Kind::finish).links, IsEmpty());
}

TEST(TaskTraceIds, WithoutAListenerTheHandlerGetsTheIdsOfTheSubmitter) {
  easyretry::testing::ManualEngine engine;
  std::string seen;
  auto pay = engine.retryable("pay", [&](int) { seen = current_task()->info.traceparent; });
  pay.with({.traceparent = kGiven}).submit(1);
  engine.drain();
  EXPECT_EQ(seen, kGiven);
}

TEST(TaskTraceIds, AnyInstanceDerivesTheSameOnes) {
  TaskInfo task;
  task.id = TaskId{1234};
  task.name_space = "shop";
  task.key = "order-1";
  const engine::TaskTrace trace{task, {}};
  // Instances of different releases link to each other's spans: these ids may not change.
  EXPECT_EQ(trace.traceparent(trace.submit()), "00-7bad6dc2099da8b99a311be6d4e28390-d5bc0ffd07e663ad-01");
  EXPECT_EQ(trace.attempt(2), "f43450e5d10eca96");
  TaskInfo other = task;
  other.key = "order-2";
  EXPECT_NE(engine::TaskTrace(other, {}).traceparent(""), trace.traceparent(""));
}

TEST(TaskTraceIds, ARatioChoosesThatShareOfTheTraces) {
  int sampled = 0;
  for (int i = 0; i < 10'000; ++i) {
    TaskInfo task;
    task.id = TaskId{i};
    sampled += engine::TaskTrace(task, {true, 0.25}).sampled() ? 1 : 0;
  }
  EXPECT_NEAR(sampled, 2'500, 200);
  TaskInfo given;
  given.traceparent = kGiven;
  EXPECT_TRUE(engine::TaskTrace(given, {true, 0}).sampled());
  EXPECT_FALSE(engine::TaskTrace(given, {false, 0}).sampled());
}

}  // namespace
}  // namespace easyretry
