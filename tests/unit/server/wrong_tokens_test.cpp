#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

#include "server/rate_limit.h"

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;

struct Guessing : ::testing::Test {
  easyretry::testing::ManualClock clock;

  void use_up_free_tries(WrongTokens& tokens, const std::string& address) {
    for (int i = 0; i < WrongTokens::Limits{}.free; ++i) EXPECT_EQ(tokens.wait_of(address), std::nullopt);
  }
};

TEST_F(Guessing, HasAWhileToWaitAfterAFewTriesAndTwiceThatEachTimeItGoesOn) {
  WrongTokens tokens{{}, clock};
  use_up_free_tries(tokens, "10.0.0.1");
  EXPECT_EQ(tokens.wait_of("10.0.0.1"), 1s);
  clock.advance(600ms);
  EXPECT_EQ(tokens.wait_of("10.0.0.1"), 400ms) << "trying meanwhile makes it no longer";
  for (const auto wait : {2s, 4s, 8s, 16s, 32s, 64s, 128s, 256s, 300s, 300s}) {
    clock.advance(std::chrono::ceil<Millis>(*tokens.wait_of("10.0.0.1")));
    EXPECT_EQ(tokens.wait_of("10.0.0.1"), std::nullopt);
    EXPECT_EQ(tokens.wait_of("10.0.0.1"), wait);
  }
}

TEST_F(Guessing, IsAskedAboutWithoutBeingCounted) {
  WrongTokens tokens{{.most_known = 1}, clock};
  for (int i = 0; i < 20; ++i) EXPECT_EQ(tokens.waits("10.0.0.1"), std::nullopt);
  use_up_free_tries(tokens, "10.0.0.1");
  EXPECT_EQ(tokens.waits("10.0.0.1"), 1s);
  EXPECT_EQ(tokens.waits("10.0.0.2"), std::nullopt);
  use_up_free_tries(tokens, "10.0.0.2");
  EXPECT_EQ(tokens.waits("10.0.0.3"), 1s) << "there is room for one address: all others are counted together";
  clock.advance(1s);
  EXPECT_EQ(tokens.waits("10.0.0.1"), std::nullopt);
}

TEST_F(Guessing, IsForgottenAMinuteAfterItEnded) {
  WrongTokens tokens{{}, clock};
  use_up_free_tries(tokens, "10.0.0.1");
  clock.advance(62s);
  use_up_free_tries(tokens, "10.0.0.1");
  EXPECT_EQ(tokens.wait_of("10.0.0.1"), 1s);
}

TEST_F(Guessing, NowAndThenIsNotMany) {
  WrongTokens tokens{{}, clock};
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(tokens.wait_of("10.0.0.1"), std::nullopt);
    clock.advance(10s);
  }
}

TEST_F(Guessing, IsOfOneAddressAndOfAWholeNetworkWhereThatHasManyAddresses) {
  WrongTokens tokens{{}, clock};
  use_up_free_tries(tokens, "10.0.0.1");
  EXPECT_EQ(tokens.wait_of("10.0.0.2"), std::nullopt);
  use_up_free_tries(tokens, "2001:db8::1");
  EXPECT_EQ(tokens.wait_of("2001:db8::2:3:4:5"), 1s);
  EXPECT_EQ(tokens.wait_of("2001:db8:0:1::1"), std::nullopt);
}

TEST_F(Guessing, FromMoreAddressesThanAreKnownIsHeldAgainstAllOfThem) {
  WrongTokens tokens{{.most_known = 3}, clock};
  for (const char* one : {"1.0.0.1", "1.0.0.2", "1.0.0.3"}) tokens.wait_of(one);
  for (int i = 0; i < WrongTokens::Limits{}.free; ++i) tokens.wait_of("2.0.0." + std::to_string(i));
  EXPECT_EQ(tokens.wait_of("3.0.0.1"), 1s);
  EXPECT_EQ(tokens.wait_of("1.0.0.1"), std::nullopt);
  clock.advance(10min);
  EXPECT_EQ(tokens.wait_of("3.0.0.1"), std::nullopt) << "there is room again";
}

TEST(Networks, AreAddressesOrTheFirstHalfOfThem) {
  EXPECT_EQ(network_of("10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(network_of("::ffff:10.1.2.3"), "::ffff:10.1.2.3");
  EXPECT_EQ(network_of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(network_of(""), "");
}

}  // namespace
}  // namespace easyretry::server
