#include "server/pages.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::server {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

constexpr std::array<PageFile, 4> kFiles{
    PageFile{"/index.html", "t1", "<html>", "\x1fIDX"}, PageFile{"/assets/app-1.js", "t2", "let a;", "\x1fJS"},
    PageFile{"/assets/logo-1.png", "t3", "PNG", ""}, PageFile{"/favicon.svg", "t4", "<svg>", ""}};

struct Pages : ::testing::Test {
  static std::optional<http::Response> ask(const std::string& path, std::map<std::string, std::string> headers = {},
                                           http::Method method = http::Method::get) {
    http::Request request;
    request.method = method;
    request.target = *http::parse_target(path);
    request.headers = std::move(headers);
    return page_for(request, kFiles);
  }
};

TEST_F(Pages, TheRootIsTheIndexForEveryClient) {
  const auto page = ask("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->body, "<html>");
  EXPECT_EQ(page->content_type, "text/html; charset=utf-8");
  EXPECT_THAT(page->headers, Contains(Pair("ETag", "W/\"t1\"")));
  EXPECT_THAT(page->headers, Contains(Pair("Cache-Control", "no-cache")));
}

TEST_F(Pages, AnAddressOfThePageIsTheIndexForABrowserOnly) {
  EXPECT_EQ(ask("/tasks/17", {{"accept", "text/html,*/*;q=0.8"}})->body, "<html>");
  EXPECT_FALSE(ask("/tasks/17", {{"accept", "application/json"}}));
  EXPECT_FALSE(ask("/tasks/17"));
}

TEST_F(Pages, PathsOfTheApiAreNeverPages) {
  for (const char* path :
       {"/v1", "/v1/", "/v1/nothing", "/metrics", "/metrics/x", "/healthz", "/readyz", "/assets/gone-1.js"}) {
    EXPECT_FALSE(ask(path, {{"accept", "text/html"}})) << path;
  }
}

TEST_F(Pages, AreOnlyRead) {
  EXPECT_TRUE(ask("/", {}, http::Method::head));
  for (const auto method : {http::Method::post, http::Method::put, http::Method::del, http::Method::other}) {
    EXPECT_FALSE(ask("/", {{"accept", "text/html"}}, method));
  }
}

TEST_F(Pages, AssetsAreKeptForEverBecauseTheirNamesChange) {
  const auto page = ask("/assets/app-1.js");
  EXPECT_EQ(page->content_type, "text/javascript; charset=utf-8");
  EXPECT_THAT(page->headers, Contains(Pair("Cache-Control", HasSubstr("immutable"))));
  EXPECT_THAT(ask("/favicon.svg")->headers, Contains(Pair("Cache-Control", "no-cache")));
}

TEST_F(Pages, AreCompressedForClientsThatTakeIt) {
  const auto packed = ask("/assets/app-1.js", {{"accept-encoding", "br, gzip, deflate"}});
  EXPECT_EQ(packed->body, "\x1fJS");
  EXPECT_THAT(packed->headers, Contains(Pair("Content-Encoding", "gzip")));
  for (const char* others : {"", "br", "gzip;q=0", "identity"}) {
    const auto plain = ask("/assets/app-1.js", {{"accept-encoding", others}});
    EXPECT_EQ(plain->body, "let a;") << others;
    EXPECT_THAT(plain->headers, Not(Contains(Key("Content-Encoding"))));
    EXPECT_THAT(plain->headers, Contains(Pair("Vary", "Accept-Encoding")));
  }
  EXPECT_EQ(ask("/assets/logo-1.png", {{"accept-encoding", "gzip"}})->body, "PNG") << "it would not be shorter";
}

TEST_F(Pages, AreNotSentAgainToAClientThatHasThem) {
  const auto known = ask("/", {{"if-none-match", "W/\"t0\", W/\"t1\""}});
  EXPECT_EQ(known->status, 304);
  EXPECT_EQ(known->body, "");
  EXPECT_EQ(ask("/", {{"if-none-match", "W/\"t0\""}})->status, 200);
}

TEST_F(Pages, LoadNothingFromOtherServersAndAreShownInNoFrame) {
  for (const char* path : {"/", "/assets/app-1.js", "/favicon.svg"}) {
    const auto headers = ask(path)->headers;
    EXPECT_THAT(headers, Contains(Pair("Content-Security-Policy",
                                       AllOf(HasSubstr("default-src 'none'"), HasSubstr("script-src 'self';"),
                                             HasSubstr("frame-ancestors 'none'")))));
    EXPECT_THAT(headers, Contains(Pair("Referrer-Policy", "no-referrer")));
  }
}

TEST_F(Pages, WithoutFilesThereIsNoPage) {
  http::Request request;
  request.method = http::Method::get;
  request.target = *http::parse_target("/");
  EXPECT_FALSE(page_for(request, {}));
}

}  // namespace
}  // namespace easyretry::server
