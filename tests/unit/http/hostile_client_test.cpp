// Clients that try to block, fill or deceive the server.

#include <thread>

#include "unit/http/server_fixture.h"

namespace easyretry::http {
namespace {

struct Hostile : ServerTest {
  void start(const ServerOptions& options = {}) {
    server.emplace(options, [](const Request& request, const Respond& respond) {
      respond({.body = request.target.path + " " + request.body, .content_type = "text/plain"});
    });
  }
  // Sends a byte every millisecond until the connection is closed, for `patience` at most.
  std::string dripped(std::string_view head, std::chrono::seconds patience) {
    RawClient client = this->client();
    client.send(head);
    const auto closed = [&] {
      client.send("x");
      return server->connections() == 0;
    };
    EXPECT_TRUE(test::eventually(closed, patience)) << "it was not cut off";
    return client.rest();
  }
};

// Single bytes do not extend the time.
TEST_F(Hostile, ADrippingHeadIsCutOffAfterHeaderWithin) {
  start({.header_within = 200ms});
  EXPECT_THAT(dripped("GET / HTTP/1.1\r\nHost: h\r\nX-Slow: ", 10s), Not(HasSubstr(" 200 ")));
}

TEST_F(Hostile, ADrippingBodyIsCutOffAfterBodyWithin) {
  start({.body_within = 200ms});
  EXPECT_THAT(dripped(post(100'000), 10s), Not(HasSubstr(" 200 ")));
}

// Below the minimum rate, though within the time for a whole body.
TEST_F(Hostile, ABodyBelowTheMinimumRateIsCutOffLongBefore) {
  start({.body_within = 60s, .least_bytes_per_second = 100'000, .slow_start = 200ms});
  EXPECT_THAT(dripped(post(100'000), 10s), Not(HasSubstr(" 200 ")));
}

TEST_F(Hostile, ABodyAboveTheMinimumRateIsAccepted) {
  start({.body_within = 60s, .least_bytes_per_second = 100'000, .slow_start = 200ms});
  RawClient client = this->client();
  client.send(post(100'000));
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(60ms);
    client.send(std::string(10'000, 'a'));
  }
  EXPECT_THAT(client.answer(), StartsWith("HTTP/1.1 200"));
}

TEST_F(Hostile, AClientThatReadsTooSlowlyIsCutOff) {
  start({.most_body_bytes = 64'000'000, .write_within = 300ms});
  RawClient client = this->client();
  const std::string much(60'000'000, 'a');  // more than the network keeps
  client.send(post(60'000'000));
  std::thread sending{[&] { client.send(much); }};
  EXPECT_THAT(client.bytes(1'000), StartsWith("HTTP/1.1 200"));
  sending.join();
  EXPECT_TRUE(holds(0));
}

TEST_F(Hostile, AClientThatHasClosedItsSideStillGetsTheAnswer) {
  start();
  RawClient half = client();
  half.send(get("/half"));
  half.no_more();
  EXPECT_THAT(half.rest(), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("/half ")));
  EXPECT_TRUE(holds(0));
}

TEST_F(Hostile, ManyHeadersCountLikeOneLongHeader) {
  start({.most_header_bytes = 4000});
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "X-" + std::to_string(i) + ": y\r\n";
  EXPECT_THAT(ask(get("/", many)), StartsWith("HTTP/1.1 431"));
}

TEST_F(Hostile, AFoldedHeaderHidesNothing) {
  start();
  for (const char* folded : {
           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n 6\r\n\r\nabcdef",
           "POST / HTTP/1.1\r\nHost: h\r\nX: y\r\n\tTransfer-Encoding: chunked\r\nContent-Length: 0\r\nContent-Length: "
           "4\r\n\r\n",
       }) {
    EXPECT_THAT(all_answers(folded), AllOf(Not(HasSubstr(" 200 ")), Not(HasSubstr("/smuggled")))) << folded;
  }
}

TEST_F(Hostile, AChunkThatLiesAboutItsSizeEndsTheConnection) {
  start();
  for (const char* size : {"ffffffffffffffffff", "-1", "0x5", "5;\n", "8000000000000000", " 5", "5 5", ""}) {
    EXPECT_THAT(all_answers(post_chunked() + size + "\r\nhello\r\n0\r\n\r\n"),
                AllOf(Not(HasSubstr(" 200 ")), Not(HasSubstr("/smuggled"))))
        << size;
  }
}

// Chunk extensions and trailers are not part of the body, and are bounded as well.
TEST_F(Hostile, ChunkExtensionsAndTrailersAreBounded) {
  start();
  for (const char* extra : {"5;x=", "0\r\nX: ", "0;x="}) {
    RawClient client = this->client();
    client.send(post_chunked() + extra + std::string(200'000, 'a'));
    EXPECT_THAT(client.rest(), StartsWith("HTTP/1.1 400")) << extra;
  }
  EXPECT_THAT(ask(post_chunked() + "5;a=b\r\nhello\r\n0;c=\"d\"\r\n\r\n"), EndsWith("/ hello"));
}

TEST_F(Hostile, OddLineEndsAreRefused) {
  start();
  for (const char* odd : {"GET / HTTP/1.1\nHost: h\n\n", "GET / HTTP/1.1\r\nHost: h\r\nX: a\nY: b\r\n\r\n",
                          "GET / HTTP/1.1\r\nHost: h\r\nX: a\rY: b\r\n\r\n"}) {
    RawClient client = this->client();
    client.send(odd);
    client.no_more();
    EXPECT_THAT(client.rest(), Not(HasSubstr(" 200 "))) << odd;
  }
}

// Requests are served one at a time, so a client that never reads holds one answer, not thousands.
TEST_F(Hostile, AFloodOfRequestsInOneConnectionIsAnsweredInOrder) {
  start();
  RawClient client = this->client();
  std::string flood;
  for (int i = 0; i < 10'000; ++i) flood += get("/" + std::to_string(i));
  std::thread sending{[&] { client.send(flood); }};
  for (int i = 0; i < 10'000; ++i) ASSERT_THAT(client.answer(), EndsWith("/" + std::to_string(i) + " "));
  sending.join();
}

TEST_F(Hostile, AFloodWhoseAnswersAreNotReadBlocksOnlyItself) {
  start({.write_within = 300ms});
  RawClient flood = client();
  std::string requests;
  for (int i = 0; i < 10'000; ++i) {
    requests += get("/" + std::string(8'000, 'a'));
  }
  std::thread sending{[&] { flood.send(requests); }};
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(ask(get("/other")), EndsWith("/other "));
  }
  sending.join();  // because it was cut off
  EXPECT_TRUE(holds(0));
}

}  // namespace
}  // namespace easyretry::http
