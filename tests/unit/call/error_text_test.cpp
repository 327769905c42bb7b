// The text of an error that the store keeps, for errors of all kinds.

#include "unit/call/direct_call_fixture.h"

namespace easyretry::test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::StartsWith;

TEST_F(DirectCall, AFailureWithoutAWordIsAFailureHereAndInARetry) {
  auto fail = engine.retryable("fail", [&](int how) -> Answer {
    if (how == 0) throw Busy("");
    return how == 1 ? retry_later("") : give_up("");
  });
  for (const int how : {0, 1}) {
    const auto direct = fail(how);
    EXPECT_EQ(direct.error(), "failed without a message");
    EXPECT_EQ(engine.find(direct.task())->last_error, "failed without a message");
  }
  EXPECT_EQ(fail(2).error(), "failed without a message");
  const TaskId submitted = fail.submit(2);
  engine.run_due();
  EXPECT_EQ(engine.find(submitted)->last_error, "failed without a message");
}

TEST_F(DirectCall, ANestedErrorIsShownInTheCallAndInARetry) {
  auto pay = engine.retryable("pay", [](int) {
    try {
      throw Busy("the gateway is busy");
    } catch (...) {
      std::throw_with_nested(std::runtime_error("not paid"));
    }
  });
  const auto direct = pay(1);
  EXPECT_EQ(direct.error(), "not paid: the gateway is busy");
  const TaskId submitted = pay.submit(2);
  engine.run_due();
  EXPECT_EQ(engine.find(submitted)->last_error, "not paid: the gateway is busy");
}

// The end of an error text says most.
void expect_cut(const std::string& kept, const std::string& whole) {
  EXPECT_LE(kept.size(), 4096U);
  EXPECT_GT(kept.size(), 4090U);
  EXPECT_THAT(kept, StartsWith(whole.substr(0, 3000)));
  EXPECT_THAT(kept, HasSubstr(" … (cut, " + std::to_string(whole.size()) + " bytes in total) … "));
  EXPECT_THAT(kept, EndsWith(whole.substr(whole.size() - 500)));
}

TEST_F(DirectCall, OfALongErrorFourKibibytesAreKept) {
  const std::string whole = std::string(5000, 'x') + "ü, and a stack trace";
  auto fail = engine.retryable("fail", [&](int) { throw Busy(whole); });
  const TaskId direct = fail(1).task();
  const TaskId stored = fail.store(2, whole);
  const TaskId submitted = fail.submit(3);
  engine.run_due();
  for (const TaskId id : {direct, stored, submitted}) expect_cut(engine.find(id)->last_error, whole);
}

TEST_F(DirectCall, ALongErrorThatGoesToHistoryAtOnceIsCutAlike) {
  auto fail = engine.retryable("fail", [](int) { throw Closed(std::string(5000, 'x')); },
                               {.never_retry = {type<Closed>()}}, {.persist = Persist::on_failure});
  TaskId id{};
  engine.on_event([&](const Event& event) { id = event.task.id; });
  EXPECT_THROW(static_cast<void>(fail(1)), Closed);
  expect_cut(engine.find(id)->last_error, std::string(5000, 'x'));
}

}  // namespace
}  // namespace easyretry::test
