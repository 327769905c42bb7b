#include "http/client.h"

#include <atomic>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/http_server.h"
#include "unit/webhook/raw_server.h"

namespace easyretry::http {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::StartsWith;
using webhook::RawServer;
using webhook::Wire;

// Answers with the method, the path, the query and the body; /later is never answered.
class EchoServer {
 public:
  std::string url(const std::string& path) const { return "http://127.0.0.1:" + std::to_string(server_.port()) + path; }
  std::size_t connections() const { return server_.connections(); }

 private:
  void serve(Request request, Respond respond) {
    if (request.target.path == "/later") {
      const std::lock_guard lock{mutex_};
      later_.push_back(std::move(respond));
      return;
    }
    respond({.status = request.target.path == "/missing" ? 404 : 200,
             .body = std::string{to_string(request.method)} + " " + request.target.path + " " + request.body,
             .headers = {{"x-token", std::string{request.header("authorization").value_or("none")}}}});
  }

  std::mutex mutex_;
  std::vector<Respond> later_;  // guarded by mutex_
  HttpServer server_{{}, [this](Request request, Respond respond) { serve(std::move(request), std::move(respond)); }};
};

class HttpClient : public ::testing::Test {
 protected:
  NoAnswer::Kind failure(const ClientRequest& request) {
    const auto reply = client.ask(request);
    return reply ? throw std::runtime_error("it was answered") : reply.error().kind;
  }

  EchoServer server;
  Client client;
};

TEST_F(HttpClient, SendsMethodHeadersAndBodyAndGetsStatusHeadersAndBody) {
  std::vector<std::string> lines;
  const auto reply = client.ask({.method = "PATCH",
                                 .url = server.url("/missing"),
                                 .body = "{}",
                                 .headers = {"Authorization: Bearer secret"},
                                 .on_header = [&](std::string_view line) { lines.emplace_back(line); }});
  ASSERT_TRUE(reply) << reply.error().why;
  EXPECT_EQ(reply->status, 404);
  EXPECT_EQ(reply->body, "PATCH /missing {}");
  EXPECT_THAT(lines, Contains("x-token: Bearer secret\r\n"));
}

TEST_F(HttpClient, KeepsItsConnectionBetweenRequests) {
  for (const char* method : {"GET", "POST", "DELETE"}) {
    const auto reply = client.ask({.method = method, .url = server.url("/"), .body = "x"});
    ASSERT_TRUE(reply) << reply.error().why;
    EXPECT_THAT(reply->body, StartsWith(method));
  }
  EXPECT_EQ(server.connections(), 1U);
}

TEST_F(HttpClient, PassesAStreamOnAsItArrives) {
  std::string arrived;
  const auto reply =
      client.ask({.url = server.url("/"), .stream = [&](std::string_view bytes) { arrived.append(bytes); }});
  ASSERT_TRUE(reply) << reply.error().why;
  EXPECT_EQ(arrived, "GET / ");
  EXPECT_EQ(reply->body, "");
}

TEST_F(HttpClient, DistinguishesRequestsThatWereNotSentFromThoseInDoubt) {
  EXPECT_EQ(failure({.url = "http://127.0.0.1:1/"}), NoAnswer::Kind::not_reached);
  EXPECT_EQ(failure({.url = server.url("/later"), .within = 50ms}), NoAnswer::Kind::lost);
}

TEST_F(HttpClient, LosesAnAnswerThatIsTooLong) {
  EXPECT_EQ(failure({.url = server.url("/long"), .most_bytes = 3}), NoAnswer::Kind::lost);
}

TEST_F(HttpClient, EndsARequestWhenItIsStopped) {
  std::stop_source stop;
  const std::jthread stopper{[&] {
    std::this_thread::yield();
    stop.request_stop();
  }};
  EXPECT_EQ(failure({.url = server.url("/later"), .stop = stop.get_token()}), NoAnswer::Kind::stopped);
}

TEST_F(HttpClient, DoesNotTakeHalfAHeadForAnAnswer) {
  const RawServer half{[](const Wire& wire) {
    wire.hear();
    wire.say("HTTP/1.1 200 OK\r\nContent-Ty");
  }};
  EXPECT_EQ(failure({.url = half.url()}), NoAnswer::Kind::lost);
}

TEST_F(HttpClient, DoesNotSendABodyAgainIfAKeptConnectionClosesWithoutAnAnswer) {
  std::atomic<int> bodies{0};
  const auto hear = [&](const Wire& wire) {
    wire.hear();
    if (!wire.hear().empty()) ++bodies;
  };
  const RawServer once{[&](const Wire& wire) {
    hear(wire);
    wire.say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    hear(wire);
  }};
  const ClientRequest pay{.method = "POST", .url = once.url(), .body = "pay\r\n\r\n"};
  ASSERT_TRUE(client.ask(pay));
  EXPECT_EQ(failure(pay), NoAnswer::Kind::lost);
  EXPECT_EQ(bodies, 2);
}

TEST_F(HttpClient, SaysThatAnAnswerIsNotHttp) {
  const RawServer strange{[](const Wire& wire) {
    wire.hear();
    wire.say("HTTP/1.1 wrong password\r\n\r\n");
  }};
  const auto reply = client.ask({.url = strange.url()});
  ASSERT_FALSE(reply);
  EXPECT_TRUE(reply.error().not_http) << reply.error().why;
}

TEST(FormEncoded, EscapesValues) {
  EXPECT_EQ(form_encoded({{"user", "a b"}, {"password", "&=%"}}), "user=a%20b&password=%26%3D%25");
  EXPECT_EQ(form_encoded({}), "");
}

}  // namespace
}  // namespace easyretry::http
