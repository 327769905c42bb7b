#include "storage/url.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refusal.h"

namespace easyretry::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string url_refusal(std::string_view url) {
  return test::refusal<std::invalid_argument>([&] { parse_store_url(url); });
}

TEST(StoreUrl, IsASchemeAPathAndOptions) {
  const StoreUrl url = parse_store_url("sqlite:/var/lib/retry.db?synchronous=normal&shards=16");
  EXPECT_EQ(url.scheme, "sqlite");
  EXPECT_EQ(url.path, "/var/lib/retry.db");
  EXPECT_THAT(url.options, ElementsAre(Pair("synchronous", "normal"), Pair("shards", "16")));
}

TEST(StoreUrl, MayBeASchemeAlone) {
  const StoreUrl url = parse_store_url("memory:");
  EXPECT_EQ(url.scheme, "memory");
  EXPECT_EQ(url.path, "");
  EXPECT_THAT(url.options, IsEmpty());
}

TEST(StoreUrl, APathIsTakenAsItIs) {
  EXPECT_EQ(parse_store_url("sqlite:a b/100%25/x=y&z.db").path, "a b/100%25/x=y&z.db");
  EXPECT_EQ(parse_store_url("sqlite:C:/retry.db").path, "C:/retry.db");
}

TEST(StoreUrl, AValueMayHoldAnEqualsSign) {
  EXPECT_THAT(parse_store_url("x:?a=b=c").options, ElementsAre(Pair("a", "b=c")));
}

TEST(StoreUrl, WithoutASchemeIsRefusedWithAnExample) {
  for (const auto* url : {"", "retry.db", ":retry.db", "/var/lib/retry.db"}) {
    EXPECT_THAT(url_refusal(url), HasSubstr("sqlite:retry.db")) << url;
  }
}

TEST(StoreUrl, AnOptionIsANameAndAValue) {
  for (const auto* url :
       {"sqlite:x?", "sqlite:x?shards", "sqlite:x?shards=", "sqlite:x?=16", "sqlite:x?a=1&", "sqlite:x?&a=1"}) {
    EXPECT_THAT(url_refusal(url), HasSubstr("name=value")) << url;
  }
}

TEST(StoreUrl, AnOptionGivenTwiceIsRefused) {
  EXPECT_THAT(url_refusal("sqlite:x?shards=1&shards=2"), HasSubstr("\"shards\" is given twice"));
}

}  // namespace
}  // namespace easyretry::storage
