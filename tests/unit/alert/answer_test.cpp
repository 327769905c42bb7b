// Answers of alert channels: delivered, to be retried, or hopeless.

#include <gtest/gtest.h>

#include "alert/products.h"
#include "unit/alert/support.h"

namespace easyretry::alert {
namespace {

SendResult result_of(ChannelType type, int status, const std::string& body = "") {
  return judge_answer(type, webhook::Answer{.status = status, .body = body});
}

TEST(Answer, TwoHundredIsArrivedForSlackAndWebhooks) {
  EXPECT_TRUE(result_of(ChannelType::slack, 200, "ok").arrived);
  EXPECT_TRUE(result_of(ChannelType::webhook, 204).arrived);
}

TEST(Answer, RobotsRefuseInTheBodyOfATwoHundred) {
  using enum ChannelType;
  EXPECT_TRUE(result_of(dingtalk, 200, R"({"errcode":0,"errmsg":"ok"})").arrived);
  EXPECT_TRUE(result_of(wecom, 200, R"({"errcode":0,"errmsg":"ok"})").arrived);
  EXPECT_TRUE(result_of(feishu, 200, R"({"code":0,"msg":"success","data":{}})").arrived);
  EXPECT_TRUE(result_of(feishu, 200, R"({"StatusCode":0,"StatusMessage":"success"})").arrived);

  const SendResult refused = result_of(dingtalk, 200, R"({"errcode":310000,"errmsg":"sign not match"})");
  EXPECT_FALSE(refused.arrived);
  EXPECT_FALSE(refused.worth_retrying);
  EXPECT_EQ(refused.why, R"(HTTP 200: {"errcode":310000,"errmsg":"sign not match"})");
  EXPECT_FALSE(result_of(feishu, 200, R"({"code":19021,"msg":"sign match fail"})").arrived);
  EXPECT_FALSE(result_of(wecom, 200, R"({"errcode":93000,"errmsg":"invalid webhook url"})").arrived);
}

TEST(Answer, AnAnswerThatIsNoRobotsIsNoSuccess) {
  EXPECT_FALSE(result_of(ChannelType::dingtalk, 200, "<html>log in to the Wi-Fi</html>").arrived);
  EXPECT_FALSE(result_of(ChannelType::feishu, 200, R"({"code":"0"})").arrived);
  EXPECT_FALSE(result_of(ChannelType::wecom, 200, "").arrived);
}

TEST(Answer, TooFastIsWorthTryingAgain) {
  EXPECT_TRUE(result_of(ChannelType::dingtalk, 200, R"({"errcode":130101})").worth_retrying);
  EXPECT_TRUE(result_of(ChannelType::feishu, 200, R"({"code":11232})").worth_retrying);
  EXPECT_TRUE(result_of(ChannelType::wecom, 200, R"({"errcode":45009})").worth_retrying);
  EXPECT_TRUE(result_of(ChannelType::slack, 429).worth_retrying);
  EXPECT_TRUE(result_of(ChannelType::slack, 503).worth_retrying);
  EXPECT_FALSE(result_of(ChannelType::slack, 404, "no_service").worth_retrying);
  EXPECT_FALSE(result_of(ChannelType::webhook, 301).worth_retrying);
}

TEST(Answer, WithoutAnAnswerItIsTriedAgainUnlessItMayNotBeCalled) {
  const auto failed = [](Errc code) {
    return judge_answer(ChannelType::slack, tl::make_unexpected(Error{code, "x", "why"}));
  };
  EXPECT_TRUE(failed(Errc::unavailable).worth_retrying);
  EXPECT_TRUE(failed(Errc::in_doubt).worth_retrying);
  EXPECT_FALSE(failed(Errc::invalid_argument).worth_retrying);
  EXPECT_EQ(failed(Errc::unavailable).why, "why");
}

}  // namespace
}  // namespace easyretry::alert
