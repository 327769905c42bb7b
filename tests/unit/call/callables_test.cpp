// Kinds of functions that can be retried, and their results.

#include <memory>

#include "policy/limits.h"
#include "unit/call/direct_call_fixture.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

int twice(int n) {
  return 2 * n;
}

struct Gateway {
  int fee = 1;
  int pay(const Order& order, int amount) const { return amount + fee + static_cast<int>(order.id.size()); }
};

TEST_F(DirectCall, FreeFunctionsLambdasAndMemberFunctionsAreCalledLikeThemselves) {
  Gateway gateway;
  EXPECT_EQ(*engine.retryable("free", twice)(21), 42);
  EXPECT_EQ(*engine.retryable("pointer", &twice, Policy{})(21), 42);
  EXPECT_EQ(*engine.retryable("member", &Gateway::pay, &gateway)(Order{"77"}, 10), 13);
  EXPECT_EQ(*engine.retryable("lambda", [](int a, const std::string& b,
                                           std::vector<int> c) { return a + static_cast<int>(b.size() + c.size()); })(
                1, "ab", {1, 2, 3}),
            6);
  EXPECT_TRUE(engine.retryable("void", [](int) {})(1));
  EXPECT_EQ(*engine.retryable("rvalue", [](std::string&& text) { return std::move(text); })("x"), "x");
}

TEST_F(DirectCall, TheObjectOfAMemberFunctionMayBeSharedOrReferredTo) {
  struct Counter {
    int calls = 0;
    int next() & { return ++calls; }
    int more(int n) const& noexcept { return calls + n; }
    std::unique_ptr<int> box() { return std::make_unique<int>(calls); }
  };
  auto shared = std::make_shared<Counter>();
  Counter counter;
  EXPECT_EQ(*engine.retryable("shared", &Counter::next, shared)(), 1);
  EXPECT_EQ(*engine.retryable("reference", &Counter::next, std::ref(counter), Policy{})(), 1);
  EXPECT_EQ(*engine.retryable("constant", &Counter::more, std::cref(counter))(4), 5);
  EXPECT_EQ(**engine.retryable("opaque", opaque(&Counter::box), shared, {.backoff = Fixed{1s}})(), 1);
  EXPECT_EQ(shared->calls, 1);
  EXPECT_THROW(engine.retryable("nobody", &Counter::next, std::shared_ptr<Counter>{}), std::invalid_argument);
}

TEST_F(DirectCall, ResultsAndFunctionsThatCanOnlyBeMovedAreMoved) {
  auto secret = std::make_unique<int>(4);
  auto make =
      engine.retryable("make", [secret = std::move(secret)](int n) { return std::make_unique<int>(*secret + n); });
  auto made = make(3);
  ASSERT_TRUE(made);
  std::unique_ptr<int> taken = *std::move(made);
  EXPECT_EQ(*taken, 7);
}

TEST_F(DirectCall, AnOpaqueResultNeedsNoJsonAndAnExpressionOverItIsRefused) {
  struct Session {
    int id;
  };
  auto open = engine.retryable("open", opaque([](int id) { return Session{id}; }), {.backoff = Fixed{1s}});
  EXPECT_EQ(open(3)->id, 3);
  EXPECT_THROW(
      engine.retryable("bad", opaque([](int id) { return Session{id}; }), Policy{.success_when = "result.id == 3"}),
      std::invalid_argument);
}

TEST_F(DirectCall, AnAnswerDecidesADirectCall) {
  Answer next = done();
  auto ask = engine.retryable("ask", [&](int) { return next; });
  EXPECT_TRUE(ask(1));
  next = retry_after(1h, "closed for lunch");
  const auto waiting = ask(1);
  ASSERT_TRUE(waiting.stored());
  EXPECT_EQ(engine.find(waiting.task())->next_at, engine.clock().now() + 1h);
  next = give_up("unknown customer");
  const auto refused = ask(2);
  EXPECT_EQ(refused.state(), AttemptState::failed);
  EXPECT_EQ(refused.error(), "unknown customer");
}

TEST_F(DirectCall, TheDelayOfAnAnswerIsHeldToTenYearsHereAndInARetry) {
  Millis delay = Millis::max();
  auto ask = engine.retryable("ask", [&](int) { return retry_after(delay); });
  const auto direct = ask(1);
  const TaskId submitted = ask.submit(2);
  engine.run_due();
  EXPECT_EQ(engine.find(direct.task())->next_at, engine.clock().now() + policy::kLongestDelay);
  EXPECT_EQ(engine.find(submitted)->next_at, engine.clock().now() + policy::kLongestDelay);
  delay = -1h;
  EXPECT_EQ(engine.find(ask(3).task())->next_at, engine.clock().now());
}

}  // namespace
}  // namespace easyretry::test
