// The alerts section: its meaning, the exact text of its errors, and that its secrets are never shown.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace easyretry::config {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kAlertsExample = R"(alerts:
  channels:
    hook: {type: webhook, url: https://oncall.example/hooks, secret_file: /etc/hook.secrets}
    chat: {type: slack, url: https://hooks.slack.com/services/T0/B0/geheim, per_minute: 5}
    post:
      type: email
      url: smtps://smtp.example:465
      user: retry
      password_file: /etc/smtp.password
      from: retry@example.com
      to: [ann@example.com, bob@example.com]
  rules:
    payments:
      handlers: [payment.*]
      channels: [chat, post]
      final_failures: 3
      quarantines: 1
      backlog_age: 10m
      failure_rate: 50%
      min_attempts: 100
      window: 15m
)";

std::string channel(const std::string& fields) {
  return "alerts:\n  channels:\n    ops: {" + fields + "}\n";
}

std::string rule(const std::string& fields) {
  return "alerts:\n  channels:\n    ops: {type: slack, url: 'https://x.example/y'}\n  rules:\n    r: {" + fields +
         "}\n";
}

TEST(AlertsSection, IsRead) {
  const AlertsConfig alerts = parse_config(kAlertsExample).alerts;
  EXPECT_EQ(alerts.channels.at("chat").type, ChannelType::slack);
  EXPECT_EQ(alerts.channels.at("chat").url, "https://hooks.slack.com/services/T0/B0/geheim");
  EXPECT_EQ(alerts.channels.at("chat").per_minute, 5);
  EXPECT_EQ(alerts.channels.at("hook").per_minute, 10);
  EXPECT_THAT(alerts.channels.at("post").to, ElementsAre("ann@example.com", "bob@example.com"));
  const AlertRule& rule = alerts.rules.at("payments");
  EXPECT_THAT(rule.handlers, ElementsAre("payment.*"));
  EXPECT_THAT(rule.namespaces, ElementsAre("*"));
  EXPECT_EQ(rule.final_failures, 3);
  EXPECT_EQ(rule.failure_rate, 50);
  EXPECT_EQ(rule.backlog_age, 10min);
  EXPECT_EQ(rule.window, 15min);
  EXPECT_EQ(rule.wait, 10s);
}

TEST(AlertsSection, IsWrittenAsItCanBeReadWithItsUrlsMasked) {
  const Config config = parse_config(kAlertsExample);
  const std::string yaml = to_yaml(config);
  EXPECT_THAT(yaml, HasSubstr("    chat:\n      type: slack\n      url: https://hooks.slack.com/***\n"));
  EXPECT_THAT(yaml, HasSubstr("failure_rate: 50%"));
  EXPECT_THAT(yaml, Not(HasSubstr("geheim")));
  Config masked = config;
  masked.alerts.channels.at("chat").url = "https://hooks.slack.com/***";
  masked.alerts.channels.at("hook").url = "https://oncall.example/***";
  EXPECT_THAT(compare(masked, parse_config(yaml)), IsEmpty());
}

TEST(AlertsSection, ChangesNeedARestartAndAreToldWithoutSecrets) {
  const Config before = parse_config(kAlertsExample);
  Config after = before;
  after.alerts.channels.at("chat").url = "https://hooks.slack.com/services/T0/B0/other?x=secret";
  after.alerts.rules.at("payments").final_failures = 1;
  EXPECT_THAT(compare(before, after),
              ElementsAre(ConfigChange{"alerts.channels.chat.url", "https://hooks.slack.com/***",
                                       "https://hooks.slack.com/***", false},
                          ConfigChange{"alerts.rules.payments.final_failures", "3", "1", false}));
}

TEST(AlertsSection, ChannelsWithoutTheFieldsOfTheirTypeAreRefused) {
  const std::string at = "easyretry.yaml:3:5: alerts.channels.ops: ";
  EXPECT_EQ(problem_of(channel("url: 'https://x'")),
            at + "type is missing; write one of webhook, slack, dingtalk, feishu, wecom, email");
  EXPECT_EQ(problem_of(channel("type: wecom")),
            at + "url is missing; write url: https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=…");
  EXPECT_EQ(problem_of(channel("type: webhook, url: 'https://x.example'")),
            at + "secret_file is missing; write secret_file: /etc/easyretry/alerts.secrets");
  EXPECT_EQ(problem_of(channel("type: email, url: 'smtps://x:465', from: a@b.example")),
            at + "to is missing; write to: [oncall@example.com]");
  EXPECT_EQ(problem_of(channel("type: email, url: 'smtps://x:465', from: a@b.example, to: a@b.example, user: a")),
            at + "user and password_file go together; write both or neither");
}

TEST(AlertsSection, ChannelsHaveNothingThatTheirTypeDoesNotKnow) {
  const std::string at = "easyretry.yaml:3:5: alerts.channels.ops: ";
  EXPECT_EQ(problem_of(channel("type: slack, url: 'https://x/y', secret_file: a")),
            at + "secret_file is not for type slack; delete it");
  EXPECT_EQ(problem_of(channel("type: feishu, url: 'https://x/y', to: a@b.example")),
            at + "to is not for type feishu; delete it");
  EXPECT_EQ(problem_of(channel("type: slack, url: 'smtp://x'")),
            at + "url begins with neither https:// nor http://; write https://hooks.slack.com/services/…");
  EXPECT_EQ(problem_of(channel("type: email, from: a@b.example, to: a@b.example, url: 'https://x'")),
            at + "url begins with none of smtps:// (TLS), smtp:// (STARTTLS) and smtp+plain:// (neither); write "
                 "smtps://smtp.example:465");
  EXPECT_EQ(problem_of(channel("type: slak")),
            "easyretry.yaml:3:17: alerts.channels.ops.type: \"slak\" is unknown, did you mean slack?; write one of "
            "webhook, slack, dingtalk, feishu, wecom, email");
}

TEST(AlertsSection, APasswordIsNotSentInTheOpen) {
  EXPECT_EQ(
      problem_of(channel("type: email, url: 'smtp+plain://x:25', from: a@b.example, to: a@b.example, user: a, "
                         "password_file: b")),
      "easyretry.yaml:3:5: alerts.channels.ops: a password must not be sent unencrypted; write smtps:// or smtp:// "
      "instead of smtp+plain://");
}

TEST(AlertsSection, AUrlIsNeverQuoted) {
  for (const char* url : {"geheim", "https://geheim@x/geheim", "https://x/ge heim", "ftp://x/geheim", "://geheim"}) {
    const std::string problem = problem_of(channel("type: slack, url: '" + std::string{url} + "'"));
    EXPECT_THAT(problem, testing::StartsWith("easyretry.yaml:3:"));
    EXPECT_THAT(problem, Not(HasSubstr("geheim"))) << url;
  }
}

TEST(AlertsSection, AddressesAreOnesThatCanStandInAHeader) {
  for (const char* address :
       {"ann", "@b", "a@", "a@b@c", "a b@c", "a@b\\r\\nBcc: d@e", "Ann <a@b>", "a@b,c@d", "ä@b"}) {
    EXPECT_THAT(problem_of(channel("type: email, url: 'smtps://x', to: a@b, from: \"" + std::string{address} + "\"")),
                HasSubstr("alerts.channels.ops.from: "))
        << address;
  }
}

TEST(AlertsSection, RulesNameChannelsThatAreThereAndSaySomething) {
  EXPECT_EQ(problem_of(rule("final_failures: 1")),
            "easyretry.yaml:5:5: alerts.rules.r: channels is missing; write channels: [ops], with names from "
            "alerts.channels");
  EXPECT_EQ(
      problem_of(rule("final_failures: 1, channels: [opz]")),
      "easyretry.yaml:5:39: alerts.rules.r.channels: there is no channel \"opz\" under alerts.channels, did you mean "
      "ops?");
  EXPECT_EQ(problem_of(rule("channels: [ops]")),
            "easyretry.yaml:5:5: alerts.rules.r: it has no threshold; write one or more of final_failures: 1, "
            "quarantines: 1, backlog_age: 10m, circuit_open: 1m, failure_rate: 50%");
  EXPECT_EQ(problem_of(rule("channels: [ops], failure_rate: 0.5")),
            "easyretry.yaml:5:40: alerts.rules.r.failure_rate: \"0.5\"; write percent from 1% to 100%, such as 50%");
  EXPECT_EQ(problem_of(rule("channels: [ops], final_failures: 1, windw: 5m")),
            "easyretry.yaml:5:45: alerts.rules.r.windw: unknown key, did you mean window?");
}

TEST(AlertsSection, IsChannelsAndRules) {
  EXPECT_EQ(problem_of("alerts: {chanels: {}}"),
            "easyretry.yaml:1:10: alerts.chanels: unknown key, did you mean channels?");
  EXPECT_EQ(
      problem_of("alerts: [ops]"),
      "easyretry.yaml:1:9: alerts: found a list; write keys and values, such as \"channels: {ops: {type: slack}}\"");
  EXPECT_EQ(problem_of("", {{"EASYRETRY_ALERTS_CHANNELS", "x"}}),
            "EASYRETRY_ALERTS_CHANNELS: alerts have no variables; set it under alerts in the file");
}

TEST(AlertsSection, EveryTruncationIsReadOrRefused) {
  for (std::size_t length = 0; length < kAlertsExample.size(); ++length) {
    for (const std::string& problem : problems_of(kAlertsExample.substr(0, length))) {
      EXPECT_THAT(problem, Not(HasSubstr("geheim")));
    }
  }
}

}  // namespace
}  // namespace easyretry::config
