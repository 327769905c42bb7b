#include "server/rate_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;

struct RateLimits : ::testing::Test {
  easyretry::testing::ManualClock clock;

  int taken(RateLimit& limit, const std::string& who, int asked) {
    int count = 0;
    for (int i = 0; i < asked; ++i) count += limit.wait_of(who) ? 0 : 1;
    return count;
  }
};

TEST_F(RateLimits, ABurstOfOneSecondIsAllowedAndThenAnEvenRate) {
  RateLimit limit{10, clock};
  EXPECT_EQ(taken(limit, "ann", 100), 10);
  clock.advance(100ms);
  EXPECT_EQ(taken(limit, "ann", 100), 1);
  clock.advance(1h);
  EXPECT_EQ(taken(limit, "ann", 100), 10);
}

TEST_F(RateLimits, ARefusedClientLearnsHowLongToWaitAndIsAdmittedThen) {
  RateLimit limit{10, clock};
  taken(limit, "ann", 10);
  EXPECT_EQ(limit.wait_of("ann"), 100ms);
  EXPECT_EQ(limit.wait_of("ann"), 100ms) << "what was refused does not count";
  clock.advance(100ms);
  EXPECT_EQ(limit.wait_of("ann"), std::nullopt);
}

TEST_F(RateLimits, ClientsDoNotTakeTheShareOfOthers) {
  RateLimit limit{10, clock};
  taken(limit, "ann", 100);
  EXPECT_EQ(taken(limit, "bob", 100), 10);
}

TEST_F(RateLimits, ZeroMeansNoLimit) {
  RateLimit limit{0, clock};
  EXPECT_EQ(taken(limit, "ann", 1000), 1000);
}

TEST_F(RateLimits, ManyClientsAtOnceShareTheRestAndAreForgottenLater) {
  RateLimit limit{10, clock, 3};
  for (const char* who : {"a", "b", "c"}) EXPECT_EQ(taken(limit, who, 1), 1);
  EXPECT_EQ(taken(limit, "d", 10), 10);
  EXPECT_EQ(taken(limit, "e", 10), 0) << "the same room as d";
  EXPECT_EQ(taken(limit, "a", 10), 9) << "who is known keeps his own";
  clock.advance(1s);
  EXPECT_EQ(taken(limit, "e", 10), 10);
}

}  // namespace
}  // namespace easyretry::server
