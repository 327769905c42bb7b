#include "http/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::http {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Target, IsAPathAndAQueryBothDecoded) {
  const auto target = parse_target("/v1/tasks/17?handler=pay%20now&x=a+b&flag&empty=#part").value();
  EXPECT_EQ(target.path, "/v1/tasks/17");
  EXPECT_THAT(target.segments, ElementsAre("v1", "tasks", "17"));
  EXPECT_THAT(target.query,
              ElementsAre(Pair("empty", ""), Pair("flag", ""), Pair("handler", "pay now"), Pair("x", "a b")));
}

TEST(Target, AnEncodedSlashPartsNothing) {
  EXPECT_THAT(parse_target("/handlers/a%2Fb")->segments, ElementsAre("handlers", "a/b"));
}

TEST(Target, ASlashAtTheEndIsAnEmptySegment) {
  EXPECT_THAT(parse_target("/")->segments, ElementsAre(""));
  EXPECT_THAT(parse_target("/v1/")->segments, ElementsAre("v1", ""));
}

TEST(Target, AnInvalidPathIsRefused) {
  for (const char* odd : {"", "v1", "http://other/v1", "*", "/a/../b", "/a/%2e%2e/b", "/.", "/%", "/%4", "/%zz", "/%00",
                          "/?a=%", "/?%00=1", "/%ff", "/?a=%ff", "/\xff"}) {
    EXPECT_FALSE(parse_target(odd)) << odd;
  }
}

}  // namespace
}  // namespace easyretry::http
