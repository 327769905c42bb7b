// Requests to a handler, and the results when it answers.

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/webhook/raw_server.h"
#include "unit/webhook/support.h"
#include "webhook/delivery.h"

namespace easyretry::webhook {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::SizeIs;

class Answers : public testing::Test {
 protected:
  static http::Response answer(const http::Request& request) {
    const std::string& path = request.target.path;
    if (path == "/moved") return {.status = 302, .headers = {{"Location", "/elsewhere"}}};
    if (path == "/busy") return {.status = 429, .headers = {{"Retry-After", request.body}}};
    if (path == "/long") return {.body = std::string(std::stoul(request.body), 'x')};
    if (path == "/broken") return {.status = 500, .body = "no stock"};
    return {.body = request.body};
  }

  HandlerServer server{answer};
  Caller caller{loopback_allowed()};
};

TEST_F(Answers, ArePassedToTheCallback) {
  const CallResult heard = hear(
      caller, {.url = server.url("/pay?now=1"), .body = "{\"n\":1}", .headers = {{"x-key", "a, b"}, {"x-empty", ""}}});
  ASSERT_TRUE(heard) << words(heard);
  EXPECT_EQ(heard->status, 200);
  EXPECT_EQ(heard->body, "{\"n\":1}");
  EXPECT_FALSE(heard->retry_after);
  EXPECT_TRUE(heard->succeeded());
  ASSERT_THAT(server.requests(), SizeIs(1));
  const http::Request request = server.requests()[0];
  EXPECT_EQ(request.method, http::Method::post);
  EXPECT_EQ(request.target.path, "/pay");
  EXPECT_EQ(request.target.query.at("now"), "1");
  EXPECT_EQ(request.header("x-key"), "a, b");
  EXPECT_EQ(request.header("x-empty"), "");
}

TEST_F(Answers, OfAnyStatusAreAnswers) {
  const CallResult broken = hear(caller, {.url = server.url("/broken")});
  ASSERT_TRUE(broken) << words(broken);
  EXPECT_EQ(broken->status, 500);
  EXPECT_EQ(broken->body, "no stock");
  EXPECT_FALSE(broken->succeeded());
}

TEST_F(Answers, ThatRedirectAreNotFollowedAndAreNoSuccess) {
  const CallResult moved = hear(caller, {.url = server.url("/moved")});
  ASSERT_TRUE(moved) << words(moved);
  EXPECT_EQ(moved->status, 302);
  EXPECT_FALSE(moved->succeeded());
  EXPECT_THAT(server.requests(), SizeIs(1));
}

TEST_F(Answers, SayWhenToTryAgain) {
  EXPECT_EQ(hear(caller, {.url = server.url("/busy"), .body = "7"})->retry_after, 7s);
  EXPECT_EQ(hear(caller, {.url = server.url("/busy"), .body = "soon"})->retry_after, std::nullopt);
  EXPECT_EQ(hear(caller, {.url = server.url("/busy"), .body = "99999999"})->retry_after, 24h);
  EXPECT_THAT(hear(caller, {.url = server.url("/busy"), .body = "Fri, 31 Dec 2100 23:59:59 GMT"})->retry_after, 24h);
}

TEST_F(Answers, AreTakenUpToTheLimitAndNotAByteFurther) {
  CallerOptions options = loopback_allowed();
  options.most_answer_bytes = 100'000;
  Caller careful{options};
  const CallResult whole = hear(careful, {.url = server.url("/long"), .body = "100000"});
  ASSERT_TRUE(whole) << words(whole);
  EXPECT_THAT(whole->body, SizeIs(100'000));
  const CallResult longer = hear(careful, {.url = server.url("/long"), .body = "100001"});
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code, Errc::in_doubt);
  EXPECT_THAT(longer.error().detail, HasSubstr("longer than 100000 bytes"));
}

TEST_F(Answers, WithoutAnEndAreBrokenOff) {
  std::atomic<std::size_t> said{0};
  const std::string part(16 * 1024, 'x');
  RawServer endless{[&](const Wire& wire) {
    wire.hear();
    wire.say("HTTP/1.1 200 OK\r\n\r\n");
    while (wire.say(part)) said += part.size();
  }};
  const CallResult heard = hear(caller, {.url = endless.url()});
  ASSERT_FALSE(heard);
  EXPECT_THAT(heard.error().detail, HasSubstr("longer than 1048576 bytes"));
  EXPECT_TRUE(test::eventually([&, last = std::size_t{0}]() mutable { return std::exchange(last, said) == said; }));
}

TEST_F(Answers, WithHeadersWithoutAnEndAreBrokenOff) {
  RawServer endless{[](const Wire& wire) {
    wire.hear();
    wire.say("HTTP/1.1 200 OK\r\n");
    while (wire.say("x-more: of the same\r\n")) {
    }
  }};
  const CallResult heard = hear(caller, {.url = endless.url()});
  ASSERT_FALSE(heard);
  EXPECT_THAT(heard.error().detail, HasSubstr("headers are longer than 64 KiB"));
}

TEST_F(Answers, MayFollow100ContinueWhichIsNotTheAnswer) {
  RawServer patient{[](const Wire& wire) {
    wire.hear();
    wire.say("HTTP/1.1 100 Continue\r\nRetry-After: 5\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n");
  }};
  const CallResult heard = hear(caller, {.url = patient.url()});
  ASSERT_TRUE(heard) << words(heard);
  EXPECT_EQ(heard->status, 204);
  EXPECT_EQ(heard->retry_after, std::nullopt);
}

TEST_F(Answers, ComeOverConnectionsThatAreKept) {
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(hear(caller, {.url = server.url()}));
  EXPECT_EQ(server.connections(), 1U);
}

TEST_F(Answers, LeaveNoConnectionOpenAfterAnIdleWhile) {
  CallerOptions options = loopback_allowed();
  options.keep_idle = 100ms;
  Caller tidy{options};
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(hear(tidy, {.url = server.url()}));
    EXPECT_TRUE(test::eventually([&] { return server.connections() == 0; }));
  }
}

TEST_F(Answers, ToLongBodiesComeWithoutExpect100Continue) {
  const std::string body(3'000'000, 'b');
  ASSERT_EQ(hear(caller, {.url = server.url("/long"), .body = "3" + std::string(7, ' ') + body}).value().status, 200);
  EXPECT_EQ(server.requests()[0].header("expect"), std::nullopt);
  EXPECT_THAT(server.requests()[0].body, SizeIs(body.size() + 8));
}

// A proxy would connect where the guard cannot check.
TEST_F(Answers, DoNotComeThroughAProxyFromTheEnvironment) {
  for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY"}) ::setenv(name, "http://127.0.0.1:1", 1);
  const CallResult heard = hear(caller, {.url = server.url()});
  for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY"}) ::unsetenv(name);
  EXPECT_TRUE(heard) << words(heard);
}

TEST_F(Answers, NeedACallback) {
  EXPECT_THROW(caller.start({.url = server.url()}, {}), std::invalid_argument);
}

TEST_F(Answers, AreReturnedForADelivery) {
  const Endpoint endpoint{server.url(), {SigningSecret{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}}};
  const Delivery delivery{.task_id = "7", .task_key = "k\r\nx-admin: yes", .handler = "pay", .body = "{}"};
  ASSERT_TRUE(hear(caller, to_call(delivery, endpoint, system_clock().now(), {})));
  const http::Request request = server.requests()[0];
  EXPECT_EQ(request.header("easyretry-task-key"), "k%0D%0Ax-admin:%20yes");
  EXPECT_EQ(request.header("x-admin"), std::nullopt);
  EXPECT_EQ(request.header("content-type"), "application/json");
}

}  // namespace
}  // namespace easyretry::webhook
