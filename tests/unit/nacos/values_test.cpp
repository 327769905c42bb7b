// The parts without a network: addresses, members, desired state, pauses.

#include <stdexcept>

#include <gtest/gtest.h>

#include "nacos/desired_state.h"
#include "nacos/instance.h"
#include "nacos/options.h"
#include "nacos/server_address.h"

namespace easyretry::nacos {
namespace {

std::string targets(const std::string& text) {
  std::string all;
  for (const ServerAddress& server : parse_servers(text)) all += grpc_target(server) + " ";
  return all;
}

TEST(ServerAddress, IsWrittenInManyWays) {
  EXPECT_EQ(targets("a"), "a:9848 ");
  EXPECT_EQ(targets("a:80, b:8848"), "a:1080 b:9848 ");
  EXPECT_EQ(targets("http://10.0.0.7:8848/nacos"), "10.0.0.7:9848 ");
  EXPECT_EQ(targets("[::1]:8848"), "[::1]:9848 ");
  EXPECT_EQ(http_url(parse_servers("https://a:443/")[0], "/v1/x"), "https://a:443/v1/x");
  EXPECT_EQ(http_url(parse_servers("[::1]")[0], "/v1/x"), "http://[::1]:8848/nacos/v1/x");
}

TEST(ServerAddress, ThatMakesNoSenseIsRefused) {
  for (const char* text :
       {"", ",", "a,", ":8848", "a:", "a:x", "a:0", "a:70000", "a:65000", "a:1:2", "[::1", "[::1]x"}) {
    EXPECT_THROW(parse_servers(text), std::invalid_argument) << text;
  }
}

Instance instance_of(const Node& node, const std::string& ip = "10.0.0.1") {
  Instance instance{.ip = ip, .port = 1};
  describe(instance, node);
  return instance;
}

std::string ids(const ServiceView& view) {
  std::string all;
  for (const Member& member : members_of(view)) all += member.node.id + "/" + std::to_string(member.node.epoch) + " ";
  return all;
}

TEST(Members, AreSortedByIdAndNotByAddress) {
  EXPECT_EQ(ids({.service = {}, .instances = {instance_of({"b", 1}, "10.0.0.1"), instance_of({"a", 2}, "10.0.0.2")}}),
            "a/2 b/1 ");
}

TEST(Members, OfOneIdAreTheNewest) {
  EXPECT_EQ(ids({.service = {}, .instances = {instance_of({"a", 9}), instance_of({"a", 10}), instance_of({"a", 2})}}),
            "a/10 ");
}

TEST(Members, AreOnlyThoseThatTakeTraffic) {
  auto unhealthy = instance_of({"a", 1}), disabled = instance_of({"b", 1}), weightless = instance_of({"c", 1});
  unhealthy.healthy = false;
  disabled.enabled = false;
  weightless.weight = 0;
  EXPECT_EQ(ids({.service = {}, .instances = {unhealthy, disabled, weightless, {.ip = "10.0.0.9"}}}), "");
}

TEST(Members, HaveTheirMetadata) {
  const Node node{"a", 1761000000000, "0.1"};
  EXPECT_EQ(members_of({.service = {}, .instances = {instance_of(node)}}).at(0).node, node);
}

class DesiredStateTest : public testing::Test {
 protected:
  static constexpr Millis kNoTime{0};
  const DesiredState::Key key{DesiredState::Kind::registration, "orders"};
  const Instant now = std::chrono::steady_clock::now();
  DesiredState desired;

  DesiredState::Ticket set(const std::string& body) { return desired.set(key, {"On", body}, {"Off", body}); }
  std::string due(Instant when) {
    std::string all;
    for (const auto& pending : desired.due(when)) all += pending.request.type + ":" + pending.request.body + " ";
    return all;
  }
};

TEST_F(DesiredStateTest, ChangesAreDueUntilConfirmedAndAgainOnANewConnection) {
  const auto ticket = set("1");
  EXPECT_EQ(due(now), "On:1 ");
  EXPECT_EQ(desired.wait(key, ticket, kNoTime).error().code, Errc::in_doubt);
  desired.confirm(desired.due(now).at(0));
  EXPECT_TRUE(desired.wait(key, ticket, kNoTime));
  EXPECT_EQ(due(now), "");
  desired.forget_confirmations();
  EXPECT_EQ(due(now), "On:1 ");
}

TEST_F(DesiredStateTest, AChangeIsNotConfirmedByTheAnswerToAnOlderOne) {
  set("1");
  const auto old = desired.due(now).at(0);
  set("2");
  desired.confirm(old);
  EXPECT_EQ(due(now), "On:2 ");
  desired.refuse(old, {Errc::invalid_argument, "", ""});
  EXPECT_EQ(due(now), "On:2 ");
}

TEST_F(DesiredStateTest, AWithdrawalIsSentOnceAndForgottenWithTheConnection) {
  set("1");
  desired.confirm(desired.due(now).at(0));
  desired.withdraw(key);
  EXPECT_EQ(due(now), "Off:1 ");
  desired.forget_confirmations();
  EXPECT_EQ(due(now), "");
}

TEST_F(DesiredStateTest, AFailedChangeWaitsUnlessTheConnectionIsNew) {
  set("1");
  desired.postpone(desired.due(now).at(0), {Errc::unavailable, "", ""}, now + Millis{5});
  EXPECT_EQ(due(now), "");
  EXPECT_EQ(desired.next_due(), now + Millis{5});
  EXPECT_EQ(due(now + Millis{5}), "On:1 ");
  desired.forget_confirmations();
  EXPECT_EQ(due(now), "On:1 ");
}

TEST_F(DesiredStateTest, ARefusedChangeStaysRefusedOnANewConnection) {
  const auto ticket = set("1");
  desired.refuse(desired.due(now).at(0), {Errc::invalid_argument, "here", "no"});
  desired.forget_confirmations();
  EXPECT_EQ(due(now), "");
  EXPECT_EQ(desired.wait(key, ticket, kNoTime).error().code, Errc::invalid_argument);
  EXPECT_EQ(desired.withdraw(key), 0U);
}

TEST_F(DesiredStateTest, RegistrationsComeBeforeSubscriptions) {
  desired.set({DesiredState::Kind::subscription, "a"}, {"Subscribe", ""}, {});
  set("1");
  EXPECT_EQ(due(now), "On:1 Subscribe: ");
}

TEST(ReconnectPause, GrowsWithTheRoundsUpToItsLimitAndIsNeverZero) {
  base::Random random{1};
  const Timings timings;
  for (std::size_t failures = 0; failures < 1000; ++failures) {
    const Millis whole = std::min(Millis{100} * static_cast<int>(failures / 3 + 1), Millis{5000});
    const Millis pause = reconnect_pause(failures, 3, timings, random);
    EXPECT_GE(pause, whole / 2);
    EXPECT_LE(pause, whole);
  }
}

TEST(ServerListTest, GoesRoundAndPrefersOnlyWhatItHas) {
  base::Random random{1};
  ServerList list{parse_servers("a,b,c"), random};
  const std::string first = list.next().host;
  list.next();
  list.next();
  EXPECT_EQ(list.next().host, first);
  list.prefer("b");
  EXPECT_EQ(list.next().host, "b");
  list.prefer("x");
  EXPECT_EQ(list.next().host, "c");
}

}  // namespace
}  // namespace easyretry::nacos
