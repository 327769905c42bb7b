// A call that cannot be stored: the caller keeps its value or its failure, and hears why.

#include "unit/call/direct_call_fixture.h"

namespace easyretry::test {
namespace {

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

TEST_F(DirectCall, ASuccessIsTheCallersAlsoWhereItsArgumentsCouldNotBeStored) {
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

}  // namespace
}  // namespace easyretry::test
