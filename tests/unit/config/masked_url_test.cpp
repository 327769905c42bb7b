#include "config/masked_url.h"

#include <gtest/gtest.h>

namespace easyretry::config {
namespace {

TEST(MaskedUrl, HidesThePassword) {
  EXPECT_EQ(masked_url("mysql://app:geheim@db:3306/retry"), "mysql://app:***@db:3306/retry");
  EXPECT_EQ(masked_url("redis://:geheim@db"), "redis://:***@db");
  EXPECT_EQ(masked_url("mysql://app:@db"), "mysql://app:***@db");
}

TEST(MaskedUrl, HidesAllOfAPasswordWithOddCharacters) {
  for (const char* password : {"a@b", "a:b", "a/b", "a?b", "a?b@c", "://", "a#b", "a b"}) {
    EXPECT_EQ(masked_url("mysql://app:" + std::string{password} + "@db/retry"), "mysql://app:***@db/retry") << password;
  }
}

TEST(MaskedUrl, HidesSecretOptions) {
  EXPECT_EQ(masked_url("sqlite:a.db?key=geheim&shards=8"), "sqlite:a.db?key=***&shards=8");
  EXPECT_EQ(masked_url("mysql://db/retry?user=app&password=geheim"), "mysql://db/retry?user=app&password=***");
  EXPECT_EQ(masked_url("x:?api_token=a&tls_key=b&passwd=c&client_secret=d"),
            "x:?api_token=***&tls_key=***&passwd=***&client_secret=***");
}

TEST(MaskedUrl, LeavesTheRestAlone) {
  for (const char* url : {"sqlite:retry.db", "memory:", "sqlite:a:b@c.db", "mysql://db:3306/retry",
                          "mysql://app@db/retry", "sqlite:password=x.db", "sqlite:a.db?shards=8", ""}) {
    EXPECT_EQ(masked_url(url), url);
  }
}

}  // namespace
}  // namespace easyretry::config
