// Valid and invalid bodies and queries of requests. The end-to-end test of the OpenAPI document sends them to every
// path.

#include "server/request_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refusal.h"

namespace easyretry::server {
namespace {

using test::refusal;
using ::testing::AllOf;
using ::testing::HasSubstr;

http::Request asked(const std::string& target, std::string body = {}) {
  http::Request request;
  request.target = *http::parse_target(target);
  request.body = std::move(body);
  return request;
}

TEST(RequestFields, AnUnknownParameterIsRefusedAndTheKnownOnesAreNamed) {
  EXPECT_EQ(refusal([] { require_known(asked("/v1/series?step=10s"), {"handler", "step"}); }), "accepted");
  EXPECT_THAT(
      refusal([] {
        require_known(asked("/v1/series?steps=10s"), {"handler", "step"});
      }),
      AllOf(HasSubstr("the parameter steps"), HasSubstr("did you mean step?"), HasSubstr("known: handler, step")));
  EXPECT_THAT(refusal([] { require_known(asked("/v1/cluster?x=1"), {}); }), HasSubstr("this request has none"));
}

TEST(RequestFields, ABodyWhereNoneBelongsIsRefusedUnlessItSaysNothing) {
  for (const std::string nothing : {"", "{}", " {} "}) {
    EXPECT_EQ(refusal([&] { require_nothing(asked("/v1/handlers/mail/resume", nothing)); }), "accepted") << nothing;
  }
  EXPECT_THAT(refusal([] { require_nothing(asked("/v1/handlers/mail/resume", R"({"why":"x"})")); }),
              HasSubstr("$.why: unknown field"));
  EXPECT_NE(refusal([] { require_nothing(asked("/v1/handlers/mail/resume", "[]")); }), "accepted");
  EXPECT_NE(refusal([] { require_nothing(asked("/v1/handlers/mail/resume?x=1")); }), "accepted");
}

TEST(RequestFields, AWholeNumberMayHaveADecimalPoint) {
  const JsonDocument body =
      JsonDocument::parse(R"({"a": 17.0, "b": 17.5, "c": 1e300, "d": -3.0, "e": 9007199254740993})");
  Fields fields{body.root()};
  EXPECT_EQ(fields.number("a", 0, 0, 100), 17);
  EXPECT_EQ(fields.need_whole("d"), -3);
  EXPECT_EQ(fields.need_whole("e"), 9007199254740993) << "no digit is lost";
  EXPECT_THAT(refusal([&] { fields.number("b", 0, 0, 100); }), HasSubstr("expected an integer"));
  EXPECT_THAT(refusal([&] { fields.need_whole("c"); }), HasSubstr("expected an integer"));
}

}  // namespace
}  // namespace easyretry::server
