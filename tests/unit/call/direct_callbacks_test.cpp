// If a callback of a direct call throws, the result of the call stays the same, for its caller and in the store.

#include "unit/call/direct_call_fixture.h"

namespace easyretry::test {
namespace {

constexpr auto kStoring = {Persist::retry_only, Persist::on_failure, Persist::always};

std::string named(Persist persist) {
  return "pay " + std::to_string(static_cast<int>(persist));
}

TEST_F(DirectCall, ACallbackThatThrowsAfterADirectSuccessIsRetriedAlone) {
  for (const Persist persist : kStoring) {
    SCOPED_TRACE(named(persist));
    calls = 0;
    told.clear();
    auto pay = engine.retryable(named(persist), gateway(), {}, {.persist = persist});
    pay.on_success([this](const Receipt& receipt, const TaskInfo&) {
      told.push_back(std::to_string(receipt.code));
      if (told.size() == 1) throw std::runtime_error("the ledger is locked");
    });
    const auto paid = pay(Order{"7"});
    ASSERT_TRUE(paid);
    EXPECT_EQ(paid->code, 200);
    engine.drain();
    EXPECT_EQ(calls, 1);
    EXPECT_THAT(told, ElementsAre("200", "200"));
  }
  EXPECT_EQ(engine.stats().callback_failures, kStoring.size());
}

TEST_F(DirectCall, ACallbackThatThrowsAfterADirectFinalFailureIsRetriedAlone) {
  for (const Persist persist : kStoring) {
    SCOPED_TRACE(named(persist));
    calls = 0;
    busy = 1;
    told.clear();
    auto pay = engine.retryable(named(persist), gateway(), {.stop = {.max_attempts = 1}}, {.persist = persist});
    pay.on_final_failure([this](const Failure& failure, const TaskInfo&) {
      EXPECT_EQ(failure.outcome, Outcome::exhausted);
      told.push_back(failure.message);
      if (told.size() == 1) throw std::runtime_error("the pager is down");
    });
    EXPECT_THROW(static_cast<void>(pay(Order{"7"})), Busy);
    engine.drain();
    EXPECT_EQ(calls, 1);
    EXPECT_THAT(told, ElementsAre(HasSubstr("the gateway is busy"), HasSubstr("the gateway is busy")));
  }
  EXPECT_EQ(engine.stats().exhausted, kStoring.size());
}

TEST_F(DirectCall, NeverACallbackThatThrowsIsCountedAndTheCallerHasItsValueOrItsFailure) {
  auto pay = engine.retryable("pay", gateway(), {.stop = {.max_attempts = 1}}, {.persist = Persist::never});
  pay.on_success([](const TaskInfo&) { throw std::runtime_error("the ledger is locked"); });
  pay.on_final_failure([](const Failure&, const TaskInfo&) { throw std::runtime_error("the pager is down"); });
  const auto paid = pay(Order{"7"});
  ASSERT_TRUE(paid);
  EXPECT_EQ(paid->code, 200);
  busy = 1;
  EXPECT_THROW(static_cast<void>(pay(Order{"8"})), Busy);
  EXPECT_EQ(engine.stats().callback_failures, 2U);
  EXPECT_EQ(engine.stats().stored, 0U);
}

}  // namespace
}  // namespace easyretry::test
