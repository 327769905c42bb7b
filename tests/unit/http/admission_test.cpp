// Requests are admitted or refused by their head, before the body is read.

#include <atomic>

#include "unit/http/server_fixture.h"

namespace easyretry::http {
namespace {

const std::string kToken = "Authorization: right\r\n";

// /open is open to everyone and takes no body; other paths need a token.
struct AdmissionTest : ServerTest {
  void start(const ServerOptions& options = {}) {
    server.emplace(options, [this](Request& head) -> Admission {
      ++asked;
      head.parameters["seen"] = "judged";
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

  std::atomic<int> asked{0};
};

TEST_F(AdmissionTest, RefusesBeforeTheBodyArrives) {
  start();
  RawClient one = client();
  EXPECT_THAT(ask(one, post(900)), AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("Connection: close")));
  EXPECT_THAT(one.rest(), IsEmpty());
}

TEST_F(AdmissionTest, SendsNo100ContinueForARefusedRequest) {
  start();
  EXPECT_THAT(ask(post(900, "/", "Expect: 100-continue\r\n")), StartsWith("HTTP/1.1 401"));
}

TEST_F(AdmissionTest, IsAskedOnceAndTheHeadItChangedIsServed) {
  start();
  RawClient one = client();
  one.send(post(2, "/", kToken + "Expect: 100-continue\r\n"));
  EXPECT_THAT(one.head(), StartsWith("HTTP/1.1 100 "));
  one.send("ok");
  EXPECT_THAT(one.answer(), EndsWith("judged, : ok"));
  EXPECT_EQ(asked, 1);
}

TEST_F(AdmissionTest, SetsTheMaximumLengthOfTheBody) {
  start();
  EXPECT_THAT(ask(post(1001, "/", kToken + "Expect: 100-continue\r\n")),
              AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("up to 1000 bytes")));
  EXPECT_THAT(ask(post_chunked(kToken) + "1f4\r\n" + std::string(500, 'a') + "\r\n1f5\r\n"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(ask(get("/open", "Content-Length: 1\r\n")), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(ask(post(99'999'999'999)), StartsWith("HTTP/1.1 401")) << "the token is checked first";
  EXPECT_THAT(ask(post(1000, "/", kToken) + std::string(1000, 'a')), StartsWith("HTTP/1.1 200"));
}

TEST_F(AdmissionTest, KeepsAKnownConnectionOpenAfterARefusalWithoutABody) {
  start();
  RawClient one = client();
  ask(one, get("/", kToken));
  EXPECT_THAT(ask(one, get("/forbidden", kToken)), AllOf(StartsWith("HTTP/1.1 403"), Not(HasSubstr("close"))));
  EXPECT_THAT(ask(one, post(5, "/forbidden", kToken)), AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("close")));
  one.send(get("/smuggled", kToken));
  EXPECT_THAT(one.rest(), IsEmpty());
}

TEST_F(AdmissionTest, ClosesTheConnectionOfARevokedToken) {
  start();
  RawClient one = client();
  ask(one, get("/", kToken));
  EXPECT_THAT(ask(one, get("/", "Authorization: revoked\r\n")), AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("close")));
}

TEST_F(AdmissionTest, IgnoresHeadersThatComeAfterTheBody) {
  start();
  EXPECT_THAT(ask(post_chunked(kToken) + "2\r\nok\r\n0\r\nX: late\r\n\r\n"), EndsWith("judged, : ok"));
}

}  // namespace
}  // namespace easyretry::http
