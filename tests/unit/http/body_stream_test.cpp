// Answers that are written while they are read.

#include "http/body_stream.h"

#include <atomic>
#include <thread>

#include "unit/http/server_fixture.h"

namespace easyretry::http {
namespace {

struct Reader : RawClient {
  Reader(std::uint16_t port, std::string_view request) : RawClient(port) { send(request); }
};

struct Streams : ServerTest {
  void start(StreamOptions options = {}, const ServerOptions& limits = {}) {
    body = std::make_shared<BodyStream>(std::move(options));
    server.emplace(limits, [this](const Request&, const Respond& respond) {
      respond({.content_type = "text/plain", .stream = body, .sent = [this](bool all) { sent = all ? 1 : -1; }});
    });
  }
  Reader reader(const std::string& request = get()) { return {server->port(), request}; }

  std::shared_ptr<BodyStream> body;
  std::atomic<int> sent{0};  // 1: all of it, -1: not all
};

TEST_F(Streams, ReachTheReaderAsTheyAreWritten) {
  start();
  Reader client = reader();
  EXPECT_THAT(client.head(), AllOf(HasSubstr("Transfer-Encoding: chunked"), Not(HasSubstr("Content-Length"))));
  EXPECT_TRUE(body->write("one"));
  EXPECT_EQ(client.bytes(8), "3\r\none\r\n");
  EXPECT_TRUE(body->write("four"));
  EXPECT_EQ(client.bytes(9), "4\r\nfour\r\n");
  body->end();
  EXPECT_EQ(client.rest(), "0\r\n\r\n");
  EXPECT_FALSE(body->write("more"));
  EXPECT_TRUE(test::eventually([&] { return sent == 1; }));
}

TEST_F(Streams, MayBeWrittenBeforeTheyAreAskedFor) {
  start();
  body->write("early");
  body->end();
  EXPECT_THAT(reader().rest(), EndsWith("\r\n\r\n5\r\nearly\r\n0\r\n\r\n"));
}

TEST_F(Streams, AreSentWithoutChunksToAnHttp10Client) {
  start();
  body->write("plain");
  body->end();
  EXPECT_THAT(reader("GET / HTTP/1.0\r\nHost: h\r\n\r\n").rest(),
              AllOf(Not(HasSubstr("chunked")), EndsWith("\r\n\r\nplain")));
}

TEST_F(Streams, AreNotStartedForAHeadRequest) {
  start();
  EXPECT_THAT(reader("HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").rest(), HasSubstr("200 OK"));
  EXPECT_TRUE(test::eventually([&] { return body->ended(); }));
}

TEST_F(Streams, EndWhenTheReaderLeaves) {
  start();
  { reader().head(); }
  EXPECT_TRUE(test::eventually([&] { return !body->write("x"); }));
  EXPECT_TRUE(holds(0));
  EXPECT_EQ(sent, -1);
}

TEST_F(Streams, EndWhenTheReaderTakesNothingAndKeepNoMoreThanAllowed) {
  start({.most_unsent = 1'000'000});
  Reader slow = reader();
  slow.head();
  const std::string much(100'000, 'x');
  std::size_t written = 0;
  while (body->write(much)) written += much.size();
  EXPECT_LT(written, 50'000'000U);  // the network's own buffers, and ours
  EXPECT_TRUE(body->ended());
}

TEST_F(Streams, EndWhenTheReaderIsTooSlowForOnePiece) {
  start({.most_unsent = 60'000'000}, {.write_within = 300ms});
  Reader slow = reader();
  slow.head();
  body->write(std::string(50'000'000, 'x'));  // more than the network keeps
  slow.bytes(1'000);
  EXPECT_TRUE(holds(0));
  EXPECT_EQ(sent, -1);
  EXPECT_FALSE(body->write("more"));
}

TEST_F(Streams, SayThatTheyAreStillThere) {
  start({.filler = ": still here\n", .filler_every = 10ms});
  Reader client = reader();
  client.head();
  EXPECT_EQ(client.bytes(18), "d\r\n: still here\n\r\n");
  EXPECT_EQ(client.bytes(18), "d\r\n: still here\n\r\n");
}

TEST_F(Streams, EndAfterTheirLongestTime) {
  start({.longest = 20ms});
  EXPECT_THAT(reader().rest(), EndsWith("0\r\n\r\n"));
}

TEST_F(Streams, EndWellWhenTheServerStops) {
  start();
  Reader client = reader();
  client.head();
  body->write("last");
  server->stop(20s);
  EXPECT_EQ(client.rest(), "4\r\nlast\r\n0\r\n\r\n");
  EXPECT_FALSE(body->write("more"));
}

TEST_F(Streams, MayOutliveTheirServer) {
  start();
  Reader client = reader();
  client.head();
  std::atomic<bool> over{false};
  std::thread writer{[&] {
    while (body->write("x")) {
    }
    over = true;
  }};
  server.reset();
  EXPECT_TRUE(test::eventually([&] { return over.load(); }));
  writer.join();
}

}  // namespace
}  // namespace easyretry::http
