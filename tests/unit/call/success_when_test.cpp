// success_when decides what counts as a success, as a function or as an expression.

#include "unit/call/direct_call_fixture.h"

namespace easyretry::test {
namespace {

TEST_F(DirectCall, ATypedConditionJudgesDirectCallsAndRetriesAlike) {
  bad_codes = 2;
  auto pay = pay_with(Persist::retry_only, {.success_when = [](const Receipt& r) { return r.code == 200; }});
  EXPECT_TRUE(pay(Order{"7"}).stored());
  engine.drain();
  EXPECT_EQ(calls, 3);
  EXPECT_THAT(told, ElementsAre("200"));
}

TEST_F(DirectCall, ATypedConditionForAnotherResultIsRefusedWithBothTypes) {
  const std::string why = refusal<std::invalid_argument>([&] {
    engine.retryable(
        "x", [](int) { return 1; }, Policy{.success_when = [](const Receipt&) { return true; }});
  });
  EXPECT_THAT(why, HasSubstr("handler \"x\": success_when takes easyretry::test::Receipt"));
  EXPECT_THAT(why, HasSubstr("but the handler returns int"));
}

TEST_F(DirectCall, AnExpressionThatHasNothingToLookAtIsRefused) {
  const Policy policy{.success_when = "result == 200"};
  EXPECT_THAT(refusal<std::invalid_argument>([&] {
                engine.retryable(
                    "v", [](int) {}, policy);
              }),
              HasSubstr("returns no result"));
  EXPECT_THAT(refusal<std::invalid_argument>([&] {
                engine.retryable(
                    "a", [](int) { return done(); }, policy);
              }),
              HasSubstr("Answer"));
}

TEST_F(DirectCall, ConditionsAddUp) {
  const SuccessWhen typed{[](int n) { return n > 1; }};
  const SuccessWhen expression{"result < 3"};
  for (const SuccessWhen& both : {typed.and_also(expression), expression.and_also(typed)}) {
    ManualEngine other{quiet()};
    auto same = other.retryable(
        "same", [](int n) { return n; }, Policy{.success_when = both});
    EXPECT_TRUE(same(1).stored());
    EXPECT_TRUE(same(2));
    EXPECT_TRUE(same(3).stored());
  }
}

}  // namespace
}  // namespace easyretry::test
