// current_task(): what a handler can read and set of its own task.

#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

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

struct ContextTest : EngineTest {
  std::vector<std::string> seen;
};

TEST_F(ContextTest, AProgressNoteIsVisibleToTheNextAttemptAndToTheApplication) {
  auto import = engine.retryable(
      "import",
      [&](int) {
        seen.push_back(current_task()->info.progress);
        EXPECT_TRUE(current_task()->progress("row " + std::to_string(current_task()->info.attempts * 100)));
        throw Busy("slow");
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
    throw Busy("slow");
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
                                throw Busy("slow");
                              },
                              {.backoff = Fixed{1s}, .stop = {.max_attempts = 2, .deadline = deadline}});
  pay.submit(1);
  engine.drain();
  EXPECT_THAT(first, ElementsAre(true, false));
}

}  // namespace
}  // namespace easyretry::test
