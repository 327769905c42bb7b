// Limits that people set at run time, on virtual time.

#include "unit/engine/brake_fleet.h"

namespace easyretry::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LimitOrderTest : public BrakeFleet {
 protected:
  static void set(VirtualInstance& one, const LimitOptions& limit, const std::string& subject = "handler pay") {
    ASSERT_TRUE(one.core.order_limit(subject, limit, "the gateway is slow"));
  }
  static std::string refusal(VirtualInstance& one, const std::string& subject, const LimitOptions& limit,
                             const std::string& why = "") {
    const auto answer = one.core.order_limit(subject, limit, why);
    return answer ? "" : to_string(answer.error());
  }
};

TEST_F(LimitOrderTest, AHandlerWithoutALimitGetsOneOnAllInstances) {
  VirtualInstance& a = join({});
  VirtualInstance& b = join({});
  set(a, {.running = 3});
  submit(a, 100);
  claim_for(5s, {&a, &b});
  EXPECT_EQ(running(a) + running(b), 3U);
  EXPECT_EQ(b.core.limits().at(0).running, 3);
  EXPECT_EQ(b.core.limits().at(0).order->why, "the gateway is slow");
}

TEST_F(LimitOrderTest, TheOthersObeyWithinTwoSeconds) {
  VirtualInstance& a = join({});
  VirtualInstance& b = join({});
  submit(b, 1);
  work_for(1s, {&b});
  ASSERT_EQ(calls, 1);
  set(a, {.running = 0});
  claim_for(2s, {&b});
  submit(b, 100);
  claim_for(5s, {&b});
  EXPECT_EQ(running(b), 0U);
}

TEST_F(LimitOrderTest, TheSmallerOneOfTheOrderAndTheConfigurationCounts) {
  VirtualInstance& a = join({.running = 4});
  set(a, {.running = 2});
  submit(a, 100);
  claim_for(3s, {&a});
  EXPECT_EQ(running(a), 2U);
  set(a, {.running = 50});
  claim_for(3s, {&a});
  EXPECT_EQ(running(a), 4U);
}

TEST_F(LimitOrderTest, AResetLeavesTheConfiguredLimit) {
  VirtualInstance& a = join({.running = 4});
  set(a, {.running = 0});
  submit(a, 100);
  claim_for(3s, {&a});
  ASSERT_EQ(running(a), 0U);
  EXPECT_TRUE(*a.core.reset_limit("handler pay"));
  EXPECT_FALSE(*a.core.reset_limit("handler pay"));
  claim_for(3s, {&a});
  EXPECT_EQ(running(a), 4U);
  EXPECT_THAT(*a.core.limit_orders(), IsEmpty());
}

TEST_F(LimitOrderTest, ATaskThatRunsKeepsItsLeaseWhenItsLimitIsReset) {
  VirtualInstance& a = join({});
  set(a, {.running = 1});
  submit(a, 1);
  claim_for(1s, {&a});
  ASSERT_EQ(running(a), 1U);
  const TaskId id = a.core.in_flight().all().front()->record.info.id;
  ASSERT_TRUE(*a.core.reset_limit("handler pay"));
  claim_for(5min, {&a});
  EXPECT_GT(a.look(id).lease_until, clock.now());
}

TEST_F(LimitOrderTest, AnInstanceThatStartsLaterObeysBeforeItsFirstAttempt) {
  VirtualInstance& a = join({});
  set(a, {.running = 0});
  VirtualInstance& later = join({});
  submit(later, 10);
  work_for(10s, {&later});
  EXPECT_EQ(calls, 0);
}

TEST_F(LimitOrderTest, TheLastOrderCountsAndNoneIsAPausedHandler) {
  VirtualInstance& a = join({});
  set(a, {.running = 0});
  set(a, {.per_second = 2.5, .burst = 7});
  set(a, {.running = 9}, "circuit gateway");
  const LimitOrders orders = *a.core.limit_orders();
  EXPECT_EQ(orders.size(), 2U);
  EXPECT_EQ(orders.at("handler pay").limit, (LimitOptions{.per_second = 2.5, .burst = 7}));
  EXPECT_EQ(orders.at("circuit gateway").limit, LimitOptions{.running = 9});
  EXPECT_THAT(a.core.paused()->handlers, IsEmpty());
}

TEST_F(LimitOrderTest, ARowThatCannotBeReadLimitsNothing) {
  VirtualInstance& a = join({});
  for (const std::string text : {"", "5", "x - 1 why", "5 -", "-5 - 1 why", "- - 1 why", "5 - 0 why"}) {
    ASSERT_TRUE(*store->pause("default", "\x1ehpay", text));
    EXPECT_THAT(*a.core.limit_orders(), IsEmpty()) << text;
    ASSERT_TRUE(*store->resume("default", "\x1ehpay"));
  }
}

TEST_F(LimitOrderTest, OrdersThatMakeNoSenseAreRefused) {
  VirtualInstance& a = join({});
  EXPECT_THAT(refusal(a, "pay", {.running = 1}), HasSubstr("\"handler NAME\" or \"circuit NAME\""));
  EXPECT_THAT(refusal(a, "handler ", {.running = 1}), HasSubstr("1 to 198 bytes"));
  EXPECT_THAT(refusal(a, "handler " + std::string(199, 'x'), {.running = 1}), HasSubstr("1 to 198 bytes"));
  EXPECT_THAT(refusal(a, "handler a\nb", {.running = 1}), HasSubstr("control characters"));
  EXPECT_THAT(refusal(a, "handler pay", {}), HasSubstr("say running, per_second or both"));
  EXPECT_THAT(refusal(a, "handler pay", {.running = -1}), HasSubstr("limit.running = -1"));
  EXPECT_THAT(refusal(a, "handler pay", {.running = 1, .burst = 5}), HasSubstr("limit.burst = 5"));
  EXPECT_THAT(refusal(a, "handler pay", {.running = 1}, std::string(151, 'x')), HasSubstr("151 characters"));
  EXPECT_THAT(*a.core.limit_orders(), IsEmpty());
}

}  // namespace
}  // namespace easyretry::engine
