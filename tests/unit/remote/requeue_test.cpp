// Tasks of a daemon that have ended, started again by an engine in another process.

#include "unit/remote/support.h"

namespace easyretry::test {
namespace {

struct RemoteRequeue : RemoteTest {
  RemoteOptions as(const std::string& role, const EngineOptions& engine = {.log = nullptr}) const {
    return {.token = token(role), .engine = engine};
  }
  // An order of less than nothing ends as rejected.
  TaskId rejected(Engine& engine, std::atomic<int>& paid) const {
    auto pay = engine.retryable(
        "pay",
        [&paid](const Order& order) {
          if (order.cents < 0) throw Closed("the amount is negative");
          paid = order.cents;
        },
        quick());
    const TaskId id = pay.submit({"o1", -5});
    engine.start();
    EXPECT_TRUE(eventually([&] { return ended(engine, id, Outcome::rejected); }));
    return id;
  }
};

TEST_F(RemoteRequeue, ATaskIsStartedAgainWithOtherArguments) {
  std::atomic<int> paid{0};
  RemoteEngine engine{url, as("admin+payloads")};
  const TaskId first = rejected(engine, paid);
  const auto second = engine.requeue_with(first, Order{"o1", 5});
  ASSERT_TRUE(second);
  EXPECT_TRUE(eventually([&] { return ended(engine, *second, Outcome::succeeded); }));
  EXPECT_EQ(paid, 5);
  EXPECT_EQ(engine.requeue_with(first, Order{"o1", 6}), std::nullopt) << "once";
}

TEST_F(RemoteRequeue, WithoutTheRightToSeeArgumentsNothingIsStarted) {
  std::atomic<int> paid{0};
  RemoteEngine engine{url, as("admin")};
  const TaskId first = rejected(engine, paid);
  EXPECT_THROW(engine.requeue_with(first, Order{"o1", 5}), std::exception);
  EXPECT_EQ(engine.find(first)->requeued_as, std::nullopt);
}

}  // namespace
}  // namespace easyretry::test
