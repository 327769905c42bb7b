// The exact bytes that are posted.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/detail/json_text.h>

#include "alert/products.h"
#include "unit/alert/support.h"

namespace easyretry::alert {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr TimePoint kNoon{1'772'366'400s};  // 2026-03-01T12:00:00Z

// Text that would notify everyone, be a link or be bold.
Message hostile() {
  Message message = failures();
  message.handler = "*pay*";
  message.samples = {{"101", "<!channel> & <at user_id=\"all\"></at>", "_see_ [x](http://evil) `<@all>`"}};
  return message;
}

TEST(Words, SayWhatHappenedInOneLine) {
  EXPECT_EQ(headline(failures()), "[EasyRetry] pay: 3 final failures within 2m");
  EXPECT_EQ(headline({.kind = Kind::quarantine, .handler = "pay", .count = 1}),
            "[EasyRetry] pay: 1 task quarantined after killing its workers");
  EXPECT_EQ(headline({.kind = Kind::backlog_age, .handler = "pay", .age = 754'321ms, .age_limit = 10min}),
            "[EasyRetry] pay: a task has been due for 12m (limit 10m)");
  EXPECT_EQ(headline({.kind = Kind::backlog_age, .resolved = true, .handler = "pay", .age = 0s, .age_limit = 10min}),
            "[EasyRetry] pay: resolved: the oldest due task has waited for 0s (limit 10m)");
  EXPECT_EQ(headline({.kind = Kind::failure_rate,
                      .handler = "pay",
                      .count = 30,
                      .attempts = 50,
                      .within = 5min,
                      .rate_limit = 50}),
            "[EasyRetry] pay: 30 of 50 attempts failed within 5m (60%, limit 50%)");
}

TEST(Words, NameSomeTasksAndSayHowManyMoreThereAre) {
  EXPECT_EQ(full_text(failures()),
            "[EasyRetry] pay: 3 final failures within 2m\n"
            "namespace shop, rule payments\n"
            "- 101 (key order-1): 503\n"
            "- 102 (key order-2): timed out\n"
            "… and 1 more");
}

TEST(Words, OneLineIsUtf8WithoutControlCharacters) {
  EXPECT_EQ(one_line("a\r\n\tb\x7f\xff", 100), "a   b \xef\xbf\xbd");
  EXPECT_EQ(one_line("a\xe2\x80\xa8"
                     "b\xc2\x85"
                     "c",
                     100),
            "a b c");
  EXPECT_EQ(one_line("ääää", 5), "ää…");
}

TEST(WebhookBody, IsTheStandardWebhooksShape) {
  EXPECT_EQ(webhook_body(failures(), kNoon),
            R"({"data":{"count":3,"handler":"pay","kind":"final_failure","namespace":"shop","rule":"payments",)"
            R"("status":"firing","summary":"[EasyRetry] pay: 3 final failures within 2m",)"
            R"("tasks":[{"error":"503","id":"101","key":"order-1"},{"error":"timed out","id":"102","key":"order-2"}],)"
            R"("within_seconds":125},"timestamp":"2026-03-01T12:00:00.000Z","type":"easyretry.alert"})");
}

TEST(WebhookBody, HasTheNumbersOfItsKind) {
  EXPECT_EQ(webhook_body({.kind = Kind::backlog_age,
                          .resolved = true,
                          .rule = "r",
                          .name_space = "s",
                          .handler = "h",
                          .age = 1500ms,
                          .age_limit = 10min},
                         kNoon),
            R"({"data":{"age_seconds":1.5,"handler":"h","kind":"backlog_age","limit_seconds":600,"namespace":"s",)"
            R"("rule":"r","status":"resolved",)"
            R"j("summary":"[EasyRetry] h: resolved: the oldest due task has waited for 1s (limit 10m)","tasks":[]},)j"
            R"("timestamp":"2026-03-01T12:00:00.000Z","type":"easyretry.alert"})");
  EXPECT_THAT(
      webhook_body({.kind = Kind::failure_rate, .count = 30, .attempts = 50, .within = 5min, .rate_limit = 50}, kNoon),
      HasSubstr(R"({"data":{"attempts":50,"count":30,"handler":"","kind":"failure_rate","limit_percent":50,)"));
}

TEST(SlackBody, IsPlainTextInWhichNothingIsMarkup) {
  EXPECT_EQ(
      slack_body(hostile()),
      R"({"mrkdwn":false,"text":"[EasyRetry] *pay*: 3 final failures within 2m\nnamespace shop, rule payments\n)"
      R"(- 101 (key &lt;!channel&gt; &amp; &lt;at user_id=\"all\"&gt;&lt;/at&gt;): _see_ [x](http://evil) `&lt;@all&gt;`\n… and 2 more"})");
}

TEST(DingtalkBody, IsAMessageOfTypeText) {
  EXPECT_EQ(
      dingtalk_body(hostile()),
      R"({"msgtype":"text","text":{"content":"[EasyRetry] *pay*: 3 final failures within 2m\n)"
      R"(namespace shop, rule payments\n- 101 (key <!channel> & <at user_id=\"all\"></at>): _see_ [x](http://evil) )"
      R"(`<@all>`\n… and 2 more"}})");
}

TEST(FeishuBody, IsAPostOfLiteralTextsSignedInTheBody) {
  EXPECT_EQ(
      feishu_body(hostile(), FeishuSignature{"1599360473", "c2lnbg=="}),
      R"({"content":{"post":{"en_us":{"content":[[{"tag":"text","text":"namespace shop, rule payments"}],)"
      R"([{"tag":"text","text":"- 101 (key <!channel> & <at user_id=\"all\"></at>): _see_ [x](http://evil) `<@all>`"}],)"
      R"([{"tag":"text","text":"… and 2 more"}]],)"
      R"("title":"[EasyRetry] *pay*: 3 final failures within 2m"}}},"msg_type":"post",)"
      R"("sign":"c2lnbg==","timestamp":"1599360473"})");
  EXPECT_THAT(feishu_body(failures(), std::nullopt), Not(HasSubstr("sign")));
}

TEST(WecomBody, HasNoBracketsThatCouldMentionAUser) {
  EXPECT_EQ(
      wecom_body(hostile()),
      R"({"msgtype":"text","text":{"content":"[EasyRetry] *pay*: 3 final failures within 2m\n)"
      R"(namespace shop, rule payments\n- 101 (key ＜!channel＞ & ＜at user_id=\"all\"＞＜/at＞): _see_ [x](http://evil) )"
      R"(`＜@all＞`\n… and 2 more"}})");
}

TEST(WecomBody, IsCutToTheLimitOfTheProduct) {
  Message message = failures();
  const Sample sample{"1", std::string(100, 'k'), std::string(199, 'e') + "ä"};
  message.samples.assign(10, sample);
  const JsonDocument body = JsonDocument::parse(wecom_body(message));
  EXPECT_LE(body.root().find("text")->find("content")->as_string().size(), 2048U);
}

TEST(TestMessage, SaysThatItIsOne) {
  EXPECT_EQ(slack_body({.test = true}),
            R"({"mrkdwn":false,"text":"[EasyRetry] this is a test: messages arrive here\nNothing has happened."})");
  EXPECT_EQ(webhook_body({.test = true}, kNoon),
            R"({"data":{"summary":"[EasyRetry] this is a test: messages arrive here"},)"
            R"("timestamp":"2026-03-01T12:00:00.000Z","type":"easyretry.alert.test"})");
}

}  // namespace
}  // namespace easyretry::alert
