// Many clients at once, with and without a token: bounds on connections and memory.

#include <deque>

#include "unit/http/server_fixture.h"

namespace easyretry::http {
namespace {

const std::string kKnown = get("/known");
const std::string kOpen = get("/open");

// A request for /open does not authenticate its connection. /later is answered when the test says so.
struct Crowd : ServerTest {
  void start(const ServerOptions& options) {
    server.emplace(options, [this](Request& head) -> Admission {
      return Admitted{
          .serve = [this](Request request, Respond respond) { serve(std::move(request), std::move(respond)); },
          .known = head.target.path != "/open"};
    });
  }
  void serve(Request request, Respond respond) {
    if (request.target.path != "/later") return respond({.body = std::to_string(request.body.size())});
    answer_later(std::move(respond));
  }
  RawClient& come() { return clients.emplace_back(server->port()); }

  std::deque<RawClient> clients;
};

TEST_F(Crowd, TheLongestSilentUnauthenticatedConnectionMakesRoom) {
  start({.most_unauthenticated = 3});
  RawClient& first = come();
  RawClient& second = come();
  RawClient& third = come();
  ASSERT_TRUE(holds(3));
  EXPECT_THAT(ask(first, kOpen), StartsWith("HTTP/1.1 200"));
  RawClient& fourth = come();
  EXPECT_THAT(second.rest(), IsEmpty());
  for (RawClient* one : {&first, &third, &fourth}) EXPECT_THAT(ask(*one, kOpen), StartsWith("HTTP/1.1 200"));
}

TEST_F(Crowd, ADrippingRequestCountsAsSilence) {
  start({.most_unauthenticated = 2});
  RawClient& drips = come();
  ASSERT_TRUE(holds(1));
  RawClient& waits = come();
  ASSERT_TRUE(holds(2));
  drips.send("GET /open HTT");
  come();
  EXPECT_THAT(drips.rest(), IsEmpty());
  EXPECT_THAT(ask(waits, kOpen), StartsWith("HTTP/1.1 200"));
}

TEST_F(Crowd, UnauthenticatedConnectionsDoNotDisplaceAuthenticatedOnes) {
  start({.most_connections = 4, .most_unauthenticated = 2});
  RawClient& known = come();
  EXPECT_THAT(ask(known, kKnown), StartsWith("HTTP/1.1 200"));
  for (int i = 0; i < 50; ++i) come();
  RawClient& newcomer = come();
  EXPECT_THAT(ask(newcomer, kKnown), StartsWith("HTTP/1.1 200")) << "a token is still admitted";
  EXPECT_THAT(ask(known, kKnown), StartsWith("HTTP/1.1 200"));
}

TEST_F(Crowd, IfAllConnectionsAreAuthenticatedNoOtherIsAccepted) {
  start({.most_connections = 2});
  RawClient& first = come();
  RawClient& second = come();
  ask(first, kKnown);
  ask(second, kKnown);
  EXPECT_THAT(come().rest(), IsEmpty());
  EXPECT_THAT(ask(first, kKnown), StartsWith("HTTP/1.1 200"));
}

TEST_F(Crowd, BodiesThatDoNotFitTogetherGet503WithRetryAfter) {
  start({.most_bytes_of_bodies = 1000});
  RawClient& slow = come();
  slow.send(post(900) + "a");
  RawClient& other = come();
  ASSERT_TRUE(test::eventually([&] { return ask(post(101)).starts_with("HTTP/1.1 503"); }));
  EXPECT_THAT(ask(other, post(101)), AllOf(HasSubstr("Retry-After: 1\r\n"), HasSubstr("Connection: close")));
  EXPECT_THAT(ask(post(100) + std::string(100, 'a')), EndsWith("100")) << "that much is left";
  EXPECT_THAT(ask(kKnown), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask(slow, std::string(899, 'a')), EndsWith("900"));
  EXPECT_THAT(ask(post(1000) + std::string(1000, 'a')), EndsWith("1000")) << "it is all free again";
}

TEST_F(Crowd, ABodyInChunksCountsAsItGrows) {
  start({.most_bytes_of_bodies = 10'000});
  RawClient& slow = come();
  slow.send(post(5'000) + "a");
  const std::string head = post_chunked();
  ASSERT_TRUE(test::eventually([&] { return ask(post(5'001)).starts_with("HTTP/1.1 503"); }));
  EXPECT_THAT(ask(head + "3e8\r\n" + std::string(1'000, 'a') + "\r\n0\r\n\r\n"), EndsWith("1000"));
  EXPECT_THAT(ask(head + "1770\r\n" + std::string(6'000, 'a') + "\r\n"), StartsWith("HTTP/1.1 503"));
}

TEST_F(Crowd, ABodyIsCountedUntilItsRequestIsAnswered) {
  start({.most_bytes_of_bodies = 1000});
  RawClient& busy = come();
  busy.send(post(1000, "/later") + std::string(1000, 'a'));
  wait_until_one_is_waiting();
  EXPECT_THAT(ask(post(1)), StartsWith("HTTP/1.1 503"));
  later.front()({});
  EXPECT_THAT(busy.answer(), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask(post(1) + "a"), EndsWith("1"));
}

TEST_F(Crowd, ABodyThatIsCutOffIsNoLongerCounted) {
  start({.most_bytes_of_bodies = 1000});
  {
    RawClient gone{server->port()};
    gone.send(post(1000) + "a");
    ASSERT_TRUE(test::eventually([&] { return ask(post(1)).starts_with("HTTP/1.1 503"); }));
  }
  EXPECT_TRUE(test::eventually([&] { return ask(post(1) + "a").starts_with("HTTP/1.1 200"); }));
}

}  // namespace
}  // namespace easyretry::http
