// Persist::on_failure: every first failure is stored, even if it is final.

#include "unit/call/direct_call_fixture.h"

namespace easyretry::test {
namespace {

TEST_F(DirectCall, OnFailureAFailureNotWorthRetryingIsInHistoryAndThrown) {
  closed = true;
  auto pay = pay_with(Persist::on_failure);
  std::vector<EventKind> events;
  TaskId id{};
  engine.on_event([&](const Event& event) {
    events.push_back(event.kind);
    id = event.task.id;
  });
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Closed);
  EXPECT_THAT(events, ElementsAre(EventKind::attempt_failed, EventKind::stored, EventKind::gave_up));
  ASSERT_TRUE(engine.find(id));
  EXPECT_EQ(engine.find(id)->state, TaskState::finished);
  EXPECT_EQ(engine.find(id)->outcome, Outcome::rejected);
  EXPECT_EQ(engine.find(id)->last_error, "the account is closed");
  EXPECT_EQ(engine.run_due(), 0U);
  EXPECT_THAT(told, ElementsAre()) << "the caller got the exception";
}

TEST_F(DirectCall, OnFailureAFirstFailureThatIsAlsoTheLastIsInHistoryToo) {
  busy = 1;
  auto pay = pay_with(Persist::on_failure, {.stop = {.max_attempts = 1}});
  EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Busy);
  EXPECT_EQ(engine.stats().exhausted, 1U);
  EXPECT_EQ(told.size(), 1U);
}

TEST_F(DirectCall, OnFailureAFailureWorthRetryingIsRetried) {
  busy = 1;
  auto pay = pay_with(Persist::on_failure);
  EXPECT_TRUE(pay(Order{"7"}).stored());
  engine.drain();
  EXPECT_THAT(told, ElementsAre("200"));
}

}  // namespace
}  // namespace easyretry::test
