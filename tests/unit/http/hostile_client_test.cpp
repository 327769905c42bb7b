// Clients that want to hold, fill or fool the server, one byte at a time or many at once.

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/http_server.h"
#include "support/eventually.h"
#include "unit/http/raw_client.h"

namespace easyretry::http {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Hostile : ::testing::Test {
  void start(const ServerOptions& options = {}) {
    server.emplace(options, [](const Request& request, const Respond& respond) {
      respond({.body = request.target.path + " " + request.body, .content_type = "text/plain"});
    });
  }
  // Sends a byte every few milliseconds, for as long as somebody is there and no longer than `patience`.
  std::string dripped(std::string_view head, std::chrono::milliseconds patience) {
    RawClient client{server->port()};
    client.send(head);
    const auto until = std::chrono::steady_clock::now() + patience;
    while (server->connections() > 0 && std::chrono::steady_clock::now() < until) {
      client.send("x");
      std::this_thread::sleep_for(5ms);
    }
    EXPECT_LT(std::chrono::steady_clock::now(), until) << "it was never cut off";
    return client.rest();
  }

  std::optional<HttpServer> server;
};

// What arrives now and then must not buy time.
TEST_F(Hostile, AHeadThatDripsIsCutOffInTheTimeOfAWholeOne) {
  start({.header_within = 200ms});
  EXPECT_THAT(dripped("GET / HTTP/1.1\r\nHost: h\r\nX-Slow: ", 10s), Not(HasSubstr(" 200 ")));
}

TEST_F(Hostile, ABodyThatDripsIsCutOffInTheTimeOfAWholeOne) {
  start({.body_within = 200ms});
  EXPECT_THAT(dripped("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n", 10s), Not(HasSubstr(" 200 ")));
}

// Slower than the least pace, though within the time of a whole one.
TEST_F(Hostile, ABodyThatComesTooSlowlyIsCutOffLongBeforeThat) {
  start({.body_within = 60s, .least_bytes_per_second = 100'000, .slow_start = 200ms});
  EXPECT_THAT(dripped("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n", 10s), Not(HasSubstr(" 200 ")));
}

TEST_F(Hostile, ABodyThatKeepsUpThePaceIsTakenHoweverLongThatTakes) {
  start({.body_within = 60s, .least_bytes_per_second = 100'000, .slow_start = 200ms});
  RawClient client{server->port()};
  client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n");
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(60ms);
    client.send(std::string(10'000, 'a'));
  }
  EXPECT_THAT(client.answer(), StartsWith("HTTP/1.1 200"));
}

// Neither the whole of an answer nor its first part buys time.
TEST_F(Hostile, WhoReadsAnAnswerTooSlowlyIsCutOff) {
  start({.most_body_bytes = 64'000'000, .write_within = 300ms});
  RawClient client{server->port()};
  const std::string much(60'000'000, 'a');  // more than the network keeps
  client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 60000000\r\n\r\n");
  std::thread sending{[&] { client.send(much); }};
  EXPECT_THAT(client.bytes(1'000), StartsWith("HTTP/1.1 200"));
  sending.join();
  EXPECT_TRUE(test::eventually([&] { return server->connections() == 0; }));
}

TEST_F(Hostile, WhoHasSaidAllAndClosedItsSideStillGetsTheAnswer) {
  start();
  RawClient half{server->port()};
  half.send("GET /half HTTP/1.1\r\nHost: h\r\n\r\n");
  half.no_more();
  EXPECT_THAT(half.rest(), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("/half ")));
  EXPECT_TRUE(test::eventually([&] { return server->connections() == 0; }));
}

TEST_F(Hostile, ManyHeadersAreAsMuchAsOneLongOne) {
  start({.most_header_bytes = 4000});
  std::string many = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 1000; ++i) many += "X-" + std::to_string(i) + ": y\r\n";
  RawClient client{server->port()};
  client.send(many + "\r\n");
  EXPECT_THAT(client.answer(), StartsWith("HTTP/1.1 431"));
}

TEST_F(Hostile, AFoldedHeaderHidesNothing) {
  start();
  for (const char* folded : {
           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n 6\r\n\r\nabcdef",
           "POST / HTTP/1.1\r\nHost: h\r\nX: y\r\n\tTransfer-Encoding: chunked\r\nContent-Length: 0\r\nContent-Length: "
           "4\r\n\r\n",
       }) {
    RawClient client{server->port()};
    client.send(folded);
    client.send("GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n");
    client.no_more();
    EXPECT_THAT(client.rest(), AllOf(Not(HasSubstr(" 200 ")), Not(HasSubstr("/smuggled")))) << folded;
  }
}

TEST_F(Hostile, AChunkThatLiesAboutItsSizeEndsTheConnection) {
  start();
  for (const char* size : {"ffffffffffffffffff", "-1", "0x5", "5;\n", "8000000000000000", " 5", "5 5", ""}) {
    RawClient client{server->port()};
    client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string{size} +
                "\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n");
    client.no_more();
    EXPECT_THAT(client.rest(), AllOf(Not(HasSubstr(" 200 ")), Not(HasSubstr("/smuggled")))) << size;
  }
}

// What follows the last chunk, and what stands beside a chunk's size, counts for no body.
TEST_F(Hostile, AChunksTrimmingsAreNoPlaceToPileUpBytes) {
  start();
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* trimming : {"5;x=", "0\r\nX: ", "0;x="}) {
    RawClient client{server->port()};
    client.send(head + trimming + std::string(200'000, 'a'));
    EXPECT_THAT(client.rest(), StartsWith("HTTP/1.1 400")) << trimming;
  }
  RawClient harmless{server->port()};
  harmless.send(head + "5;a=b\r\nhello\r\n0;c=\"d\"\r\n\r\n");
  EXPECT_THAT(harmless.answer(), EndsWith("/ hello"));
}

TEST_F(Hostile, LinesEndAsTheyShouldOrAreRefused) {
  start();
  for (const char* odd : {"GET / HTTP/1.1\nHost: h\n\n", "GET / HTTP/1.1\r\nHost: h\r\nX: a\nY: b\r\n\r\n",
                          "GET / HTTP/1.1\r\nHost: h\r\nX: a\rY: b\r\n\r\n"}) {
    RawClient client{server->port()};
    client.send(odd);
    client.no_more();
    EXPECT_THAT(client.rest(), Not(HasSubstr(" 200 "))) << odd;
  }
}

// One at a time is served, so that whoever never reads holds one answer, not thousands.
TEST_F(Hostile, AFloodOfRequestsInOneConnectionIsAnsweredInOrder) {
  start();
  RawClient client{server->port()};
  std::string flood;
  for (int i = 0; i < 10'000; ++i) flood += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\n\r\n";
  std::thread sending{[&] { client.send(flood); }};
  for (int i = 0; i < 10'000; ++i) ASSERT_THAT(client.answer(), EndsWith("/" + std::to_string(i) + " "));
  sending.join();
}

TEST_F(Hostile, AFloodThatNobodyReadsTheAnswersOfHoldsUpItselfAlone) {
  start({.write_within = 300ms});
  RawClient flood{server->port()};
  std::string requests;
  for (int i = 0; i < 10'000; ++i) {
    requests += "GET /" + std::string(8'000, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n";
  }
  std::thread sending{[&] { flood.send(requests); }};
  for (int i = 0; i < 20; ++i) {
    RawClient other{server->port()};
    other.send("GET /other HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(other.answer(), EndsWith("/other "));
  }
  sending.join();  // because it was cut off
  EXPECT_TRUE(test::eventually([&] { return server->connections() == 0; }));
}

}  // namespace
}  // namespace easyretry::http
