// testing::EventRecorder keeps the events of an engine for tests.

#include <numeric>
#include <optional>

#include "support/eventually.h"
#include "unit/call/support.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;
using easyretry::testing::EventRecorder;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Recorder : ::testing::Test {
  ManualEngine engine{quiet()};
  EventRecorder events{engine};
  int slow = 0;

  auto pay() {
    return engine.retryable("pay",
                            [this](int) {
                              if (slow-- > 0) throw std::runtime_error("slow");
                            },
                            {.backoff = Fixed{1s}});
  }
};

TEST_F(Recorder, KeepsEveryEventInOrder) {
  slow = 1;
  pay().submit(1);
  engine.drain();
  using enum EventKind;
  EXPECT_THAT(events.kinds(), ElementsAre(stored, claimed, attempt_failed, retry_scheduled, claimed, succeeded));
  EXPECT_EQ(events.all().at(2).message, "slow");
}

TEST_F(Recorder, TellsTasksApart) {
  auto pay = this->pay();
  const TaskId one = pay.submit(1);
  const TaskId two = pay.submit_after(1h, 2);
  engine.run_due();
  EXPECT_THAT(events.kinds(one), ElementsAre(EventKind::stored, EventKind::claimed, EventKind::succeeded));
  EXPECT_THAT(events.kinds(two), ElementsAre(EventKind::stored));
  ASSERT_THAT(events.of(two), SizeIs(1));
  EXPECT_EQ(events.of(two).front().task.handler, "pay");
  EXPECT_THAT(events.of(TaskId{}), IsEmpty());
}

TEST_F(Recorder, CountsAKind) {
  slow = 3;
  pay().submit(1);
  engine.drain();
  EXPECT_EQ(events.count(EventKind::attempt_failed), 3U);
  EXPECT_EQ(events.count(EventKind::cancelled), 0U);
}

TEST_F(Recorder, ForgetsOnRequestAndKeepsRecording) {
  auto pay = this->pay();
  pay.submit(1);
  events.clear();
  EXPECT_THAT(events.kinds(), IsEmpty());
  engine.run_due();
  EXPECT_THAT(events.kinds(), ElementsAre(EventKind::claimed, EventKind::succeeded));
}

TEST_F(Recorder, MayGoBeforeTheEngine) {
  { const EventRecorder brief{engine}; }
  pay().submit(1);
  EXPECT_EQ(engine.run_due(), 1U);
  EXPECT_EQ(engine.stats().listener_failures, 0U);
}

TEST(RecorderOfAnEngine, MayOutliveIt) {
  std::optional<ManualEngine> engine{std::in_place, quiet()};
  const EventRecorder events{*engine};
  engine->retryable("pay", [](int) {}).submit(1);
  engine.reset();
  EXPECT_THAT(events.kinds(), ElementsAre(EventKind::stored));
}

TEST(RecorderOfAnEngine, MayBeReadWhileTheEnginesThreadsWork) {
  Engine engine{"memory:", quiet()};
  const EventRecorder events{engine};
  auto pay = engine.retryable("pay", [](int) {});
  engine.start();
  std::vector<int> many(500);
  std::iota(many.begin(), many.end(), 0);
  pay.submit_many(many);
  EXPECT_TRUE(eventually([&] { return events.count(EventKind::succeeded) == 500; }));
  engine.stop();
  EXPECT_THAT(events.all(), SizeIs(1500));
}

TEST(RecordedEvents, ArePrintedByNameInFailedExpectations) {
  EXPECT_EQ(::testing::PrintToString(EventKind::retry_scheduled), "retry scheduled");
  EXPECT_EQ(::testing::PrintToString(std::vector{EventKind::stored, EventKind::gave_up}), "{ stored, gave up }");
  EXPECT_EQ(::testing::PrintToString(Event{.kind = EventKind::attempt_failed, .message = "slow"}),
            "attempt failed: slow");
}

}  // namespace
}  // namespace easyretry::test
