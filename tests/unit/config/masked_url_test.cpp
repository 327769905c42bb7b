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

TEST(MaskedUrl, OfAWebhookShowsTheHostAlone) {
  for (const char* secret : {"/", "/geheim", "/a/geheim?b", "?geheim", "#geheim"}) {
    EXPECT_EQ(masked_webhook_url("https://h.example:8443" + std::string{secret}), "https://h.example:8443/***");
    EXPECT_EQ(masked_webhook_url("https://joe:geheim@h.example" + std::string{secret}), "https://***@h.example/***");
  }
  EXPECT_EQ(masked_webhook_url("https://joe:ge/heim@h.example/x"), "https://***@h.example/***");
  EXPECT_EQ(masked_webhook_url("https://geheim@h.example"), "https://***@h.example");
  EXPECT_EQ(masked_webhook_url("https://h.example"), "https://h.example");
  EXPECT_EQ(masked_webhook_url("h.example/geheim"), "h.example/***");
}

TEST(MaskedUrl, LeavesTheRestAlone) {
  for (const char* url : {"sqlite:retry.db", "memory:", "sqlite:a:b@c.db", "mysql://db:3306/retry",
                          "mysql://app@db/retry", "sqlite:password=x.db", "sqlite:a.db?shards=8", ""}) {
    EXPECT_EQ(masked_url(url), url);
  }
}

}  // namespace
}  // namespace easyretry::config
