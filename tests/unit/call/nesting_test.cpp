// Calls inside a task or a retry run directly, so that retries do not multiply.

#include "unit/call/direct_call_fixture.h"

namespace easyretry::test {
namespace {

TEST_F(DirectCall, ACallInsideATaskGoesStraightThrough) {
  busy = 1;
  auto pay = pay_with(Persist::retry_only);
  int thrown = 0;
  auto checkout = engine.retryable("checkout",
                                   [&](const Order& order) {
                                     try {
                                       return pay(order)->code;
                                     } catch (const Busy&) {
                                       ++thrown;
                                       throw;
                                     }
                                   },
                                   {.backoff = Fixed{1s}});
  checkout.submit(Order{"7"});
  engine.drain();
  EXPECT_EQ(thrown, 1);
  EXPECT_EQ(engine.stats().stored, 1U) << "only the checkout";
  EXPECT_EQ(calls, 2);
}

TEST_F(DirectCall, ACallInsideATaskIsJudgedAllTheSame) {
  bad_codes = 1;
  auto pay = pay_with(Persist::retry_only, {.success_when = "result.code == 200"});
  std::vector<AttemptState> states;
  auto checkout = engine.retryable("checkout", [&](const Order& order) {
    const auto paid = pay(order);
    states.push_back(paid.state());
    EXPECT_EQ(paid->code, states.size() == 1 ? 500 : 200);
  });
  checkout.submit(Order{"7"});
  checkout.submit(Order{"8"});
  engine.drain();
  EXPECT_THAT(states, ElementsAre(AttemptState::failed, AttemptState::succeeded));
  EXPECT_THAT(told, ElementsAre());
  EXPECT_EQ(engine.stats().stored, 2U);
}

TEST_F(DirectCall, TheGuardEndsWithTheTask) {
  auto pay = pay_with(Persist::retry_only);
  auto checkout = engine.retryable("checkout", [&](const Order&) { throw Closed("no"); });
  checkout.submit(Order{"7"});
  engine.run_due();
  busy = 1;
  EXPECT_TRUE(pay(Order{"8"}).stored());
}

TEST_F(DirectCall, TheGuardEndsWithTheRetryInMemory) {
  auto patient = engine.retryable("patient", gateway(), {.backoff = Fixed{1s}}, {.persist = Persist::never});
  auto pay = pay_with(Persist::retry_only);
  busy = 1;
  EXPECT_TRUE(patient(Order{"7"}));
  busy = 1;
  EXPECT_TRUE(pay(Order{"8"}).stored());
}

TEST_F(DirectCall, ACallInsideARetryInMemoryGoesStraightThroughToo) {
  auto inner = engine.retryable("inner", [](int n) -> int { throw Busy("inner " + std::to_string(n)); });
  int outer_calls = 0;
  auto outer = engine.retryable("outer",
                                [&](int n) {
                                  if (++outer_calls == 1) throw Busy("first");
                                  return *inner(n);
                                },
                                {.backoff = Fixed{1s}, .stop = {.max_attempts = 3}}, {.persist = Persist::never});
  EXPECT_THROW(static_cast<void>(outer(1)), Busy);
  EXPECT_EQ(outer_calls, 3);
  EXPECT_EQ(engine.stats().stored, 0U);
}

}  // namespace
}  // namespace easyretry::test
