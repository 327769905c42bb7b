#include "alert/mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::alert {
namespace {

TEST(Mask, HidesEverythingBehindTheHost) {
  const Mask mask{"https://hooks.slack.com/services/T0/B0/geheim1234567"};
  EXPECT_EQ(mask.apply("https://hooks.slack.com/services/T0/B0/geheim1234567: connection refused"),
            "https://hooks.slack.com***: connection refused");
  EXPECT_EQ(mask.apply("no room geheim1234567 here"), "no room *** here");
}

TEST(Mask, HidesQueriesAndTheirValues) {
  const Mask mask{"https://oapi.dingtalk.com/robot/send?access_token=geheim1234567"};
  EXPECT_EQ(mask.apply("https://oapi.dingtalk.com/robot/send?access_token=geheim1234567&sign=x: no"),
            "https://oapi.dingtalk.com***&sign=x: no");
  EXPECT_EQ(mask.apply("https://oapi.dingtalk.com/robot/send: token geheim1234567"),
            "https://oapi.dingtalk.com***: token ***");
}

TEST(Mask, HidesOtherSecretsAndAllOfALongerOne) {
  Mask mask{"smtps://smtp.example:465"};
  mask.also_hide("pass");
  mask.also_hide("password1");
  mask.also_hide("");
  EXPECT_EQ(mask.apply("password1 and pass at smtp.example"), "*** and *** at smtp.example");
}

}  // namespace
}  // namespace easyretry::alert
