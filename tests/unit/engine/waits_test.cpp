#include "engine/waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr TaskId kTask{17};

// Waits on a store of two states: tasks that are live, and tasks that have ended.
class WaitsTest : public ::testing::Test {
 protected:
  WaitsTest() {
    waits.find_with([this](std::span<const TaskId> ids) { return look(ids); });
  }

  Result<std::vector<task::TaskRecord>> look(std::span<const TaskId> ids) {
    questions.emplace_back(ids.begin(), ids.end());
    auto found = answers(ids);
    while_asked();
    return found;
  }

  Result<std::vector<task::TaskRecord>> answers(std::span<const TaskId> ids) const {
    if (down) return fail(Errc::unavailable, "store", "down");
    std::vector<task::TaskRecord> found;
    for (const TaskId id : ids) {
      const auto state = tasks.find(id);
      if (state == tasks.end()) continue;
      found.emplace_back().info.id = id;
      found.back().info.state = state->second;
    }
    return found;
  }

  void wait(TaskId id, Millis timeout = 1min) {
    const auto done = [this](const Result<Waits::Answer>& answer) {
      ends.push_back(answer ? std::string{to_string(answer->end)} : to_string(answer.error()));
    };
    const auto added = waits.add(id, clock.steady() + timeout, done);
    if (added) places.push_back(*added);
    refused = !added;
  }

  // Steps as a thread would for this long.
  void run_for(Millis time) {
    const Instant end = clock.steady() + time;
    while (true) {
      const Instant wake = waits.step().wake;
      if (wake > end) break;
      if (wake > clock.steady()) clock.advance(std::chrono::ceil<Millis>(wake - clock.steady()));
    }
    clock.advance(std::chrono::ceil<Millis>(end - clock.steady()));
  }

  static TaskInfo info(TaskId id) {
    TaskInfo info;
    info.id = id;
    return info;
  }

  testing::ManualClock clock;
  Waits waits{clock};
  std::map<TaskId, TaskState> tasks{{kTask, TaskState::running}};
  bool down = false;
  bool refused = false;
  std::function<void()> while_asked = [] {};
  std::vector<std::vector<TaskId>> questions;
  std::vector<std::string> ends;
  std::vector<Waits::Place> places;
};

TEST_F(WaitsTest, AnEndThatAnotherInstanceWroteIsFoundByLooking) {
  wait(kTask);
  run_for(10s);
  EXPECT_THAT(ends, IsEmpty());
  tasks[kTask] = TaskState::finished;
  run_for(1s);
  EXPECT_THAT(ends, ElementsAre("ended"));
}

TEST_F(WaitsTest, AnEndThatThisEngineWroteIsSeenAtOnce) {
  wait(kTask);
  run_for(10s);
  tasks[kTask] = TaskState::finished;
  waits.ended_here(info(kTask));
  run_for(10ms);
  EXPECT_THAT(ends, ElementsAre("ended"));
}

TEST_F(WaitsTest, AnEndDuringAQuestionIsNotMissed) {
  wait(kTask);
  run_for(10s);
  while_asked = [this] {  // the store has read the row by now
    tasks[kTask] = TaskState::finished;
    waits.ended_here(info(kTask));
  };
  run_for(1s);
  EXPECT_THAT(ends, ElementsAre("ended"));
}

TEST_F(WaitsTest, TheLooksAtATaskBecomeRarer) {
  wait(kTask);
  run_for(30s);
  EXPECT_THAT(questions, SizeIs(::testing::Le(36)));
  EXPECT_THAT(questions, SizeIs(::testing::Ge(30)));
}

TEST_F(WaitsTest, OneQuestionIsForAllWhoWait) {
  for (std::int64_t i = 0; i < 500; ++i) {
    tasks[TaskId{i}] = TaskState::running;
    wait(TaskId{i});
    wait(TaskId{i});
  }
  run_for(0ms);
  ASSERT_THAT(questions, SizeIs(1));
  EXPECT_THAT(questions.front(), SizeIs(500)) << "each task once";
  run_for(30s);
  EXPECT_THAT(questions, SizeIs(::testing::Le(40)));
}

TEST_F(WaitsTest, WaitsThatBeginOneAfterAnotherShareQuestions) {
  for (std::int64_t i = 0; i < 100; ++i) {
    tasks[TaskId{i}] = TaskState::finished;
    wait(TaskId{i});
    run_for(1ms);
  }
  run_for(10ms);
  EXPECT_THAT(ends, SizeIs(100));
  EXPECT_THAT(questions, SizeIs(::testing::Le(12)));
}

TEST_F(WaitsTest, AfterItsTimeAWaitEnds) {
  wait(kTask, 3s);
  run_for(2999ms);
  EXPECT_THAT(ends, IsEmpty());
  run_for(1ms);
  EXPECT_THAT(ends, ElementsAre("timeout"));
}

TEST_F(WaitsTest, AWaitWithoutTimeOnlyLooks) {
  wait(kTask, 0ms);
  wait(TaskId{18}, 0ms);
  run_for(0ms);
  EXPECT_THAT(ends, ElementsAre("timeout", "unknown"));
}

TEST_F(WaitsTest, ATaskWithoutHistoryIsGoneUnlessThisEngineEndedIt) {
  tasks[TaskId{18}] = TaskState::running;
  wait(kTask);
  wait(TaskId{18});
  run_for(100ms);
  tasks.clear();
  waits.ended_here(info(TaskId{18}));
  run_for(1s);
  EXPECT_THAT(ends, ::testing::UnorderedElementsAre("gone", "ended"));
}

TEST_F(WaitsTest, AStoreThatDoesNotAnswerIsAskedAgainUntilTheTimeIsOver) {
  down = true;
  wait(kTask, 5s);
  wait(TaskId{18}, 2s);
  run_for(3s);
  ASSERT_THAT(ends, SizeIs(1));
  EXPECT_THAT(ends.front(), ::testing::HasSubstr("down"));
  down = false;
  tasks[kTask] = TaskState::finished;
  run_for(2s);
  EXPECT_EQ(ends.back(), "ended");
}

TEST_F(WaitsTest, ThereAreNotMoreWaitsThanTheBound) {
  for (std::size_t i = 0; i < Waits::kMost; ++i) wait(kTask);
  EXPECT_FALSE(refused);
  wait(kTask);
  EXPECT_TRUE(refused);
  EXPECT_TRUE(waits.leave(places.front()));
  wait(kTask);
  EXPECT_FALSE(refused);
}

TEST_F(WaitsTest, ACallerThatHasLeftIsNotAnswered) {
  wait(kTask);
  EXPECT_TRUE(waits.leave(places.front()));
  EXPECT_FALSE(waits.leave(places.front()));
  EXPECT_FALSE(waits.any());
  tasks[kTask] = TaskState::finished;
  run_for(1s);
  EXPECT_THAT(ends, IsEmpty());
  EXPECT_THAT(questions, IsEmpty());
}

TEST_F(WaitsTest, AnEngineThatStopsAnswersAllWaitsAndLaterOnesAtOnce) {
  wait(kTask);
  run_for(1s);
  waits.close();
  wait(kTask);
  EXPECT_THAT(ends, ElementsAre("stopped", "stopped"));
}

}  // namespace
}  // namespace easyretry::engine
