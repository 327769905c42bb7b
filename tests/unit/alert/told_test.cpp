// What answers mean.

#include "alert/told.h"

#include <gtest/gtest.h>

#include "unit/alert/support.h"

namespace easyretry::alert {
namespace {

Told told(ChannelType type, int status, const std::string& body = "") {
  return judged(type, webhook::Answer{.status = status, .body = body});
}

TEST(Told, TwoHundredIsArrivedForSlackAndWebhooks) {
  EXPECT_TRUE(told(ChannelType::slack, 200, "ok").arrived);
  EXPECT_TRUE(told(ChannelType::webhook, 204).arrived);
}

TEST(Told, RobotsRefuseInTheBodyOfATwoHundred) {
  using enum ChannelType;
  EXPECT_TRUE(told(dingtalk, 200, R"({"errcode":0,"errmsg":"ok"})").arrived);
  EXPECT_TRUE(told(wecom, 200, R"({"errcode":0,"errmsg":"ok"})").arrived);
  EXPECT_TRUE(told(feishu, 200, R"({"code":0,"msg":"success","data":{}})").arrived);
  EXPECT_TRUE(told(feishu, 200, R"({"StatusCode":0,"StatusMessage":"success"})").arrived);

  const Told refused = told(dingtalk, 200, R"({"errcode":310000,"errmsg":"sign not match"})");
  EXPECT_FALSE(refused.arrived);
  EXPECT_FALSE(refused.worth_retrying);
  EXPECT_EQ(refused.why, R"(HTTP 200: {"errcode":310000,"errmsg":"sign not match"})");
  EXPECT_FALSE(told(feishu, 200, R"({"code":19021,"msg":"sign match fail"})").arrived);
  EXPECT_FALSE(told(wecom, 200, R"({"errcode":93000,"errmsg":"invalid webhook url"})").arrived);
}

TEST(Told, AnAnswerThatIsNoRobotsIsNoSuccess) {
  EXPECT_FALSE(told(ChannelType::dingtalk, 200, "<html>log in to the Wi-Fi</html>").arrived);
  EXPECT_FALSE(told(ChannelType::feishu, 200, R"({"code":"0"})").arrived);
  EXPECT_FALSE(told(ChannelType::wecom, 200, "").arrived);
}

TEST(Told, TooFastIsWorthTryingAgain) {
  EXPECT_TRUE(told(ChannelType::dingtalk, 200, R"({"errcode":130101})").worth_retrying);
  EXPECT_TRUE(told(ChannelType::feishu, 200, R"({"code":11232})").worth_retrying);
  EXPECT_TRUE(told(ChannelType::wecom, 200, R"({"errcode":45009})").worth_retrying);
  EXPECT_TRUE(told(ChannelType::slack, 429).worth_retrying);
  EXPECT_TRUE(told(ChannelType::slack, 503).worth_retrying);
  EXPECT_FALSE(told(ChannelType::slack, 404, "no_service").worth_retrying);
  EXPECT_FALSE(told(ChannelType::webhook, 301).worth_retrying);
}

TEST(Told, WithoutAnAnswerItIsTriedAgainUnlessItMayNotBeCalled) {
  const auto failed = [](Errc code) {
    return judged(ChannelType::slack, tl::make_unexpected(Error{code, "x", "why"}));
  };
  EXPECT_TRUE(failed(Errc::unavailable).worth_retrying);
  EXPECT_TRUE(failed(Errc::in_doubt).worth_retrying);
  EXPECT_FALSE(failed(Errc::invalid_argument).worth_retrying);
  EXPECT_EQ(failed(Errc::unavailable).why, "why");
}

}  // namespace
}  // namespace easyretry::alert
