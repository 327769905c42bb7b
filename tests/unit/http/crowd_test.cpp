// Many at once, with and without a token: what they may hold of connections and memory.

#include <deque>

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
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::string_view kKnown = "GET /known HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr std::string_view kOpen = "GET /open HTTP/1.1\r\nHost: h\r\n\r\n";

// Whoever asks for /open stays unknown. /later is answered when the test says so.
struct Crowd : ::testing::Test {
  void start(const ServerOptions& options) {
    server.emplace(options, [this](Request& head) -> Admission {
      return Admitted{
          .serve = [this](Request request, Respond respond) { serve(std::move(request), std::move(respond)); },
          .known = head.target.path != "/open"};
    });
  }
  void serve(Request request, Respond respond) {
    if (request.target.path != "/later") return respond({.body = std::to_string(request.body.size())});
    const std::lock_guard lock{mutex};
    later.push_back(std::move(respond));
  }
  std::string ask(RawClient& client, std::string_view request) {
    client.send(request);
    return client.answer();
  }
  bool holds(std::size_t connections) {
    return test::eventually([&] { return server->connections() == connections; });
  }
  RawClient& come() { return clients.emplace_back(server->port()); }
  static std::string post(std::size_t size, std::string_view path = "/") {
    return "POST " + std::string{path} + " HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n";
  }

  std::mutex mutex;
  std::vector<Respond> later;  // guarded by mutex
  std::optional<HttpServer> server;
  std::deque<RawClient> clients;
};

TEST_F(Crowd, OfStrangersTheOneThatWasSilentForLongestMakesRoom) {
  start({.most_strangers = 3});
  RawClient& first = come();
  RawClient& second = come();
  RawClient& third = come();
  ASSERT_TRUE(holds(3));
  EXPECT_THAT(ask(first, kOpen), StartsWith("HTTP/1.1 200"));
  RawClient& fourth = come();
  EXPECT_THAT(second.rest(), IsEmpty());
  for (RawClient* one : {&first, &third, &fourth}) EXPECT_THAT(ask(*one, kOpen), StartsWith("HTTP/1.1 200"));
}

TEST_F(Crowd, WhoDripsIsNotHeardOf) {
  start({.most_strangers = 2});
  RawClient& drips = come();
  ASSERT_TRUE(holds(1));
  RawClient& waits = come();
  ASSERT_TRUE(holds(2));
  drips.send("GET /open HTT");
  come();
  EXPECT_THAT(drips.rest(), IsEmpty());
  EXPECT_THAT(ask(waits, kOpen), StartsWith("HTTP/1.1 200"));
}

TEST_F(Crowd, StrangersDoNotPushOutThoseWhoAreKnown) {
  start({.most_connections = 4, .most_strangers = 2});
  RawClient& known = come();
  EXPECT_THAT(ask(known, kKnown), StartsWith("HTTP/1.1 200"));
  for (int i = 0; i < 50; ++i) come();
  RawClient& newcomer = come();
  EXPECT_THAT(ask(newcomer, kKnown), StartsWith("HTTP/1.1 200")) << "a token is let in meanwhile";
  EXPECT_THAT(ask(known, kKnown), StartsWith("HTTP/1.1 200"));
}

TEST_F(Crowd, WhereAllConnectionsAreOfThoseWhoAreKnownNobodyElseIsLetIn) {
  start({.most_connections = 2});
  RawClient& first = come();
  RawClient& second = come();
  ask(first, kKnown);
  ask(second, kKnown);
  EXPECT_THAT(come().rest(), IsEmpty());
  EXPECT_THAT(ask(first, kKnown), StartsWith("HTTP/1.1 200"));
}

TEST_F(Crowd, BodiesThatDoNotFitTogetherAreToldToComeAgain) {
  start({.most_bytes_of_bodies = 1000});
  RawClient& slow = come();
  slow.send(post(900) + "a");
  RawClient& other = come();
  ASSERT_TRUE(test::eventually([&] { return ask(come(), post(101)).starts_with("HTTP/1.1 503"); }));
  EXPECT_THAT(ask(other, post(101)), AllOf(HasSubstr("Retry-After: 1\r\n"), HasSubstr("Connection: close")));
  EXPECT_THAT(ask(come(), post(100) + std::string(100, 'a')), EndsWith("100")) << "that much is left";
  EXPECT_THAT(ask(come(), kKnown), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask(slow, std::string(899, 'a')), EndsWith("900"));
  EXPECT_THAT(ask(come(), post(1000) + std::string(1000, 'a')), EndsWith("1000")) << "it is all free again";
}

TEST_F(Crowd, ABodyInChunksCountsAsItGrows) {
  start({.most_bytes_of_bodies = 10'000});
  RawClient& slow = come();
  slow.send(post(5'000) + "a");
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  ASSERT_TRUE(test::eventually([&] { return ask(come(), post(5'001)).starts_with("HTTP/1.1 503"); }));
  EXPECT_THAT(ask(come(), head + "3e8\r\n" + std::string(1'000, 'a') + "\r\n0\r\n\r\n"), EndsWith("1000"));
  EXPECT_THAT(ask(come(), head + "1770\r\n" + std::string(6'000, 'a') + "\r\n"), StartsWith("HTTP/1.1 503"));
}

TEST_F(Crowd, ABodyKeepsItsRoomUntilItIsAnswered) {
  start({.most_bytes_of_bodies = 1000});
  RawClient& busy = come();
  busy.send(post(1000, "/later") + std::string(1000, 'a'));
  ASSERT_TRUE(test::eventually([&] {
    const std::lock_guard lock{mutex};
    return later.size() == 1;
  }));
  EXPECT_THAT(ask(come(), post(1)), StartsWith("HTTP/1.1 503"));
  later.front()({});
  EXPECT_THAT(busy.answer(), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask(come(), post(1) + "a"), EndsWith("1"));
}

TEST_F(Crowd, WhoLeavesAmidABodyLeavesItsRoom) {
  start({.most_bytes_of_bodies = 1000});
  {
    RawClient gone{server->port()};
    gone.send(post(1000) + "a");
    ASSERT_TRUE(test::eventually([&] { return ask(come(), post(1)).starts_with("HTTP/1.1 503"); }));
  }
  EXPECT_TRUE(test::eventually([&] { return ask(come(), post(1) + "a").starts_with("HTTP/1.1 200"); }));
}

}  // namespace
}  // namespace easyretry::http
