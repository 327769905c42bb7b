// Who is let in, and what is read of those who are not.

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/admit.h"
#include "http/http_server.h"
#include "support/eventually.h"
#include "unit/http/raw_client.h"

namespace easyretry::http {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// /open is for everybody, and takes no body; all else needs a token.
struct Doorman : ::testing::Test {
  void start(const ServerOptions& options = {}) {
    server.emplace(options, [this](Request& head) -> Admission {
      ++asked;
      head.parameters["seen"] = "by the doorman";
      if (head.target.path == "/open") return Admitted{echo(), 0, false};
      if (head.header("authorization") != "right") return Problem{401, "unauthorized", "who are you?"};
      if (head.target.path == "/forbidden") return Problem{403, "forbidden", "not you"};
      return Admitted{.serve = echo(), .most_body_bytes = 1000};
    });
  }
  static Serve echo() {
    return [](const Request& request, const Respond& respond) {
      respond({.body = request.parameters.at("seen") + ", " + std::string{request.header("x").value_or("")} + ": " +
                       request.body,
               .content_type = "text/plain"});
    };
  }
  RawClient client() { return RawClient{server->port()}; }

  std::atomic<int> asked{0};
  std::optional<HttpServer> server;
};

TEST_F(Doorman, RefusesBeforeAnyOfTheBodyIsThere) {
  start();
  RawClient one = client();
  one.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\n");
  EXPECT_THAT(one.answer(), AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("Connection: close")));
  EXPECT_THAT(one.rest(), IsEmpty());
}

TEST_F(Doorman, SaysNothingOfGoingOnToThoseWhoAreRefused) {
  start();
  RawClient one = client();
  one.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 900\r\n\r\n");
  EXPECT_THAT(one.answer(), StartsWith("HTTP/1.1 401"));
}

TEST_F(Doorman, IsAskedOnceAndWhatHeFoundIsServed) {
  start();
  RawClient one = client();
  one.send("POST / HTTP/1.1\r\nHost: h\r\nAuthorization: right\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_THAT(one.head(), StartsWith("HTTP/1.1 100 "));
  one.send("ok");
  EXPECT_THAT(one.answer(), EndsWith("by the doorman, : ok"));
  EXPECT_EQ(asked, 1);
}

TEST_F(Doorman, SaysHowLongABodyMayBe) {
  start();
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nAuthorization: right\r\n";
  RawClient longer = client();
  longer.send(head + "Expect: 100-continue\r\nContent-Length: 1001\r\n\r\n");
  EXPECT_THAT(longer.answer(), AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("up to 1000 bytes")));
  RawClient chunked = client();
  chunked.send(head + "Transfer-Encoding: chunked\r\n\r\n1f4\r\n" + std::string(500, 'a') + "\r\n1f5\r\n");
  EXPECT_THAT(chunked.answer(), StartsWith("HTTP/1.1 413"));
  RawClient open = client();
  open.send("GET /open HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n");
  EXPECT_THAT(open.answer(), StartsWith("HTTP/1.1 413"));
  RawClient stranger = client();
  stranger.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999\r\n\r\n");
  EXPECT_THAT(stranger.answer(), StartsWith("HTTP/1.1 401")) << "first of all it matters who asks";
  RawClient fits = client();
  fits.send(head + "Content-Length: 1000\r\n\r\n" + std::string(1000, 'a'));
  EXPECT_THAT(fits.answer(), StartsWith("HTTP/1.1 200"));
}

TEST_F(Doorman, LetsThoseHeKnowsGoOnAfterARefusalWithoutABody) {
  start();
  RawClient one = client();
  const std::string known = " HTTP/1.1\r\nHost: h\r\nAuthorization: right\r\n";
  one.send("GET /" + known + "\r\n");
  one.answer();
  one.send("GET /forbidden" + known + "\r\n");
  EXPECT_THAT(one.answer(), AllOf(StartsWith("HTTP/1.1 403"), Not(HasSubstr("close"))));
  one.send("POST /forbidden" + known + "Content-Length: 5\r\n\r\n");
  EXPECT_THAT(one.answer(), AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("close")));
  one.send("GET /smuggled" + known + "\r\n");
  EXPECT_THAT(one.rest(), IsEmpty());
}

TEST_F(Doorman, SendsThoseAwayWhoAreNotKnownAnyMore) {
  start();
  RawClient one = client();
  one.send("GET / HTTP/1.1\r\nHost: h\r\nAuthorization: right\r\n\r\n");
  one.answer();
  one.send("GET / HTTP/1.1\r\nHost: h\r\nAuthorization: revoked\r\n\r\n");
  EXPECT_THAT(one.answer(), AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("close")));
}

// What he has judged is what is served.
TEST_F(Doorman, IsNotFooledByHeadersThatComeAfterTheBody) {
  start();
  RawClient one = client();
  one.send(
      "POST / HTTP/1.1\r\nHost: h\r\nAuthorization: right\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2\r\nok\r\n0\r\nX: late\r\n\r\n");
  EXPECT_THAT(one.answer(), EndsWith("by the doorman, : ok"));
}

}  // namespace
}  // namespace easyretry::http
