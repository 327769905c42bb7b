// /v1/alerts: channels without secrets, rules and messages of the namespace, and tests of channels.

#include <gmock/gmock.h>

#include "unit/server/api_case.h"
#include "unit/webhook/support.h"

namespace easyretry::server {
namespace {

using http::Method;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kSecret = "secret-canary-1234567";

class AlertEndpoints : public ApiCase {
 protected:
  AlertEndpoints() { add_alert_endpoints(api, alerting); }

  Config config() {
    Config config;
    config.server.may_call = {"127.0.0.1"};
    config.alerts.channels["ops"] = {.type = ChannelType::slack, .url = room.url("/" + kSecret), .per_minute = 2};
    config.alerts.channels["away"] = {.type = ChannelType::slack, .url = "http://127.0.0.1:1/" + kSecret};
    config.alerts.rules["payments"] = {.handlers = {"pay.*"}, .channels = {"ops"}, .final_failures = 3};
    config.alerts.rules["theirs"] = {.namespaces = {"shop"}, .channels = {"ops"}, .failure_rate = 50};
    config.alerts.rules["ships"] = {
        .handlers = {"ship.*"}, .namespaces = {"shop"}, .channels = {"ops"}, .final_failures = 1, .wait = Millis{0}};
    config.engine.log = [](LogLevel, std::string_view) {};
    return config;
  }
  http::Response test(const std::string& channel, const Token& who = token("operator")) {
    return ask(Method::post, "/v1/alerts/test", who, R"({"channel":")" + channel + "\"}");
  }
  std::string alerts(const Token& who = token("viewer")) { return ask(Method::get, "/v1/alerts", who).body; }

  webhook::HandlerServer room{[](const http::Request&) { return http::Response{.body = "ok"}; }};
  engine::Core& shop = namespaces.at("shop")->core();
  alert::AlertService alerting{config(), {&shop}};
};

TEST_F(AlertEndpoints, ChannelsAreListedWithoutTheirSecrets) {
  const std::string body = alerts();
  EXPECT_THAT(body, HasSubstr(R"({"delivered":0,"failed":0,"name":"away","per_minute":10,"type":"slack",)"
                              R"("url":"http://127.0.0.1:1/***"})"));
  EXPECT_THAT(body, Not(HasSubstr(kSecret)));
}

TEST_F(AlertEndpoints, RulesAreThoseOfTheNamespace) {
  EXPECT_THAT(alerts(), HasSubstr(R"("rules":[{"channels":["ops"],"final_failures":3,"handlers":["pay.*"],)"
                                  R"("name":"payments"}])"));
  EXPECT_THAT(alerts(token("viewer", "shop")), HasSubstr(R"("name":"theirs")"));
}

TEST_F(AlertEndpoints, ATestMessageArrivesAndIsRemembered) {
  EXPECT_EQ(test("ops").body, R"({"arrived":true,"channel":"ops"})");
  ASSERT_EQ(room.requests().size(), 1U);
  EXPECT_THAT(room.requests().front().body, HasSubstr("this is a test"));
  EXPECT_THAT(alerts(),
              AllOf(HasSubstr(R"("status":"test","summary":"[EasyRetry] this is a test: messages arrive here")"),
                    HasSubstr(R"("arrived":true)")));
}

TEST_F(AlertEndpoints, ATestThatDoesNotArriveSaysWhyWithoutSecrets) {
  const std::string body = test("away").body;
  EXPECT_THAT(body, AllOf(HasSubstr(R"("arrived":false)"), HasSubstr("127.0.0.1")));
  EXPECT_THAT(body + alerts(), Not(HasSubstr(kSecret)));
}

TEST_F(AlertEndpoints, TestsCountAsMessagesOfTheChannel) {
  EXPECT_EQ(test("ops").status, 200);
  EXPECT_EQ(test("ops").status, 200);
  const http::Response third = test("ops");
  EXPECT_EQ(third.status, 429);
  EXPECT_THAT(third.body, HasSubstr("nothing was sent"));
  EXPECT_EQ(room.requests().size(), 2U);
}

TEST_F(AlertEndpoints, AnUnknownChannelIsAnsweredWithThoseThereAre) {
  const http::Response response = test("opps");
  EXPECT_EQ(response.status, 404);
  EXPECT_THAT(response.body, HasSubstr("the channels are away, ops"));
}

TEST_F(AlertEndpoints, ViewersSeeAlertsAndOnlyOperatorsTestChannels) {
  for (const std::string role : {"viewer", "submitter", "application"}) {
    EXPECT_EQ(ask(Method::get, "/v1/alerts", token(role)).status, 200) << role;
    EXPECT_EQ(test("ops", token(role)).status, 403) << role;
  }
  EXPECT_EQ(ask(Method::get, "/v1/alerts", token("worker")).status, 403);
  EXPECT_TRUE(room.requests().empty());
}

TEST_F(AlertEndpoints, MessagesOfAnotherNamespaceAreNotListed) {
  Event event;
  event.kind = EventKind::gave_up;
  event.task.name_space = "shop";
  event.task.handler = "ship.order";
  shop.events().tell(event);
  const auto told = [&](const std::string& name_space) {
    return alerts(token("viewer", name_space)).find("ship.order: 1 final failure") != std::string::npos;
  };
  EXPECT_TRUE(test::eventually([&] { return told("shop"); }));
  EXPECT_FALSE(told("default"));
}

TEST_F(AlertEndpoints, ATestIsInTheAuditLog) {
  test("ops");
  ASSERT_EQ(api.audit().latest().size(), 1U);
  EXPECT_EQ(api.audit().latest().front().at("request"), "POST /v1/alerts/test");
}

}  // namespace
}  // namespace easyretry::server
