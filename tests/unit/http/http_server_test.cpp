#include "http/http_server.h"

#include <atomic>
#include <future>
#include <thread>

#include "unit/http/server_fixture.h"

namespace easyretry::http {
namespace {

// Repeats the request.
Response echo(const Request& request) {
  return {.body = std::string{to_string(request.method)} + " " + request.target.path + " " + request.body,
          .content_type = "text/plain"};
}

struct Http : ServerTest {
  void start(ServerOptions options = {}) {
    server.emplace(options, [this](Request request, Respond respond) {
      if (request.target.path == "/forgotten") return;
      if (request.target.path == "/later") {
        request.when_gone([this] { ++gone; });
        return answer_later(std::move(respond));
      }
      respond(echo(request));
    });
  }

  std::atomic<int> gone{0};  // clients that left before /later was answered
};

TEST_F(Http, AnswersARequest) {
  start();
  EXPECT_THAT(ask("POST /v1/x%20y HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("X-Request-Id: "), EndsWith("POST /v1/x y hello")));
}

TEST_F(Http, AClientThatLeavesBeforeTheAnswerIsNoticed) {
  start();
  {
    RawClient impatient = client();
    impatient.send(get("/later"));
    wait_until_one_is_waiting();
    EXPECT_EQ(gone, 0);
  }
  EXPECT_TRUE(test::eventually([&] { return gone == 1; }));
}

TEST_F(Http, AClientThatSendsTheNextRequestHasNotLeft) {
  start();
  RawClient eager = client();
  eager.send(get("/later"));
  wait_until_one_is_waiting();
  eager.send(get("/next"));
  later.front()({.body = "first"});
  EXPECT_THAT(eager.answer(), EndsWith("first"));
  EXPECT_THAT(eager.answer(), EndsWith("GET /next "));
  EXPECT_EQ(gone, 0);
}

TEST_F(Http, AnAnswerReportsWhetherItWasSent) {
  start();
  std::promise<bool> reached;
  std::promise<bool> lost;
  RawClient patient = client();
  patient.send(get("/later"));
  wait_until_one_is_waiting();
  later.front()({.body = "x", .sent = [&](bool written) { reached.set_value(written); }});
  EXPECT_TRUE(reached.get_future().get());

  later.clear();
  {
    RawClient impatient = client();
    impatient.send(get("/later"));
    wait_until_one_is_waiting();
    impatient.break_off();
  }
  ASSERT_TRUE(test::eventually([&] { return gone == 1; }));
  later.front()({.body = std::string(10'000'000, 'x'), .sent = [&](bool written) { lost.set_value(written); }});
  EXPECT_FALSE(lost.get_future().get());
}

TEST_F(Http, OneConnectionServesManyRequestsAlsoPipelined) {
  start();
  RawClient one = client();
  one.send(get("/1") + get("/2"));
  EXPECT_THAT(one.answer(), EndsWith("GET /1 "));
  EXPECT_THAT(one.answer(), EndsWith("GET /2 "));
  one.send(get("/3"));
  EXPECT_THAT(one.answer(), EndsWith("GET /3 "));
}

TEST_F(Http, ARequestMayComeByteByByteAndInChunks) {
  start();
  RawClient one = client();
  for (const char c : post_chunked() + "3\r\nabc\r\n0\r\n\r\n") {
    one.send({&c, 1});
  }
  EXPECT_THAT(one.answer(), EndsWith("POST / abc"));
}

TEST_F(Http, AnAnswerToHeadHasALengthAndNoBody) {
  start();
  RawClient one = client();
  one.send("HEAD /abc HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(one.rest(), AllOf(HasSubstr("Content-Length: 10\r\n"), EndsWith("\r\n\r\n")));
}

TEST_F(Http, AnExpectationIsAnsweredWith100Continue) {
  start();
  RawClient one = client();
  one.send(post(2, "/", "Expect: 100-continue\r\n"));
  EXPECT_THAT(one.head(), StartsWith("HTTP/1.1 100 "));
  one.send("ok");
  EXPECT_THAT(one.answer(), EndsWith("POST / ok"));
}

TEST_F(Http, AnOldClientGetsOneAnswerAndTheEnd) {
  start();
  RawClient one = client();
  one.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_THAT(one.rest(), AllOf(StartsWith("HTTP/1.0 200"), EndsWith("GET / ")));
}

TEST_F(Http, AHarmlessRequestIdIsKept) {
  start();
  EXPECT_THAT(ask("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: abc-1.2_3\r\n\r\n"),
              HasSubstr("X-Request-Id: abc-1.2_3\r\n"));
  EXPECT_THAT(ask("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: <script>\r\n\r\n"), Not(HasSubstr("script")));
}

// Two servers in a row could read each of these differently.
TEST_F(Http, AmbiguousRequestsAreRefusedAndTheConnectionEnds) {
  start();
  for (const char* odd : {
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\nabcde",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nabcde",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5, 5\r\n\r\nabcde",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -5\r\n\r\nabcde",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x5\r\n\r\nabcde",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5 5\r\n\r\nabcde",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5.0\r\n\r\nabcde",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \r\n\r\nabcde",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length : 5\r\n\r\nabcde",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length\t: 5\r\n\r\nabcde",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "GET / HTTP/1.1\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
           "GET / HTTP/3.0\r\nHost: h\r\n\r\n",
           "GET http://other/ HTTP/1.1\r\nHost: h\r\n\r\n",
           "GET /a/../b HTTP/1.1\r\nHost: h\r\n\r\n",
           "GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n",
           "\x16\x03\x01\x02\x01\x01\xfc\x03",
           "nonsense\r\n\r\n",
       }) {
    const std::string all = all_answers(odd);
    EXPECT_THAT(all, Not(HasSubstr(" 200 "))) << odd;
    EXPECT_THAT(all, HasSubstr("\"error\":")) << odd;
    EXPECT_EQ(all.find("}HTTP/1."), std::string::npos) << "a second answer to " << odd;
  }
}

TEST_F(Http, TooLongHeadersAndBodiesAreRefused) {
  start({.most_header_bytes = 1000, .most_body_bytes = 1000});
  EXPECT_THAT(ask(get("/" + std::string(2000, 'a'))), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(ask(post(1001)), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(ask(post_chunked() + "7d0\r\n" + std::string(2000, 'a')), StartsWith("HTTP/1.1 413"));
}

TEST_F(Http, SlowClientsAreCutOff) {
  start({.header_within = 100ms, .body_within = 100ms, .idle = 100ms});
  for (const char* slow : {"", "GET / HT", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab"}) {
    RawClient one = client();
    one.send(slow);
    EXPECT_THAT(one.rest(), Not(HasSubstr(" 200 "))) << slow;
  }
  EXPECT_TRUE(holds(0));
}

TEST_F(Http, SlowClientsDoNotDelayOthers) {
  start();
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 200; ++i) {
    slow.push_back(std::make_unique<RawClient>(server->port()));
    slow.back()->send("POST / HTTP/1.1\r\nHost: h\r\nContent-Len");
  }
  EXPECT_THAT(ask(get("/quick")), EndsWith("GET /quick "));
}

TEST_F(Http, AnUnansweredRequestGets500WithItsId) {
  start();
  EXPECT_THAT(ask("GET /forgotten HTTP/1.1\r\nHost: h\r\nX-Request-Id: lost\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 500"), HasSubstr("\"request_id\":\"lost\"")));
}

TEST_F(Http, AnAnswerMayComeFromAnotherThreadAndOnlyTheFirstCounts) {
  start();
  RawClient one = client();
  one.send(get("/later"));
  wait_until_one_is_waiting();
  std::thread{[&] {
    later[0]({.body = "first"});
    later[0]({.body = "second"});
  }}.join();
  EXPECT_THAT(one.answer(), EndsWith("first"));
  one.send(get("/next"));
  EXPECT_THAT(one.answer(), EndsWith("GET /next "));
}

TEST_F(Http, AStopLetsRequestsInFlightBeAnsweredAndAcceptsNoNewOnes) {
  start();
  RawClient idle = client();
  RawClient busy = client();
  busy.send(get("/later"));
  wait_until_one_is_waiting();
  const auto port = server->port();
  auto stopped = std::async(std::launch::async, [&] { server->stop(20s); });
  EXPECT_THAT(idle.rest(), IsEmpty());
  EXPECT_TRUE(test::eventually([&] {
    try {
      RawClient{port};
      return false;
    } catch (const std::runtime_error&) {
      return true;
    }
  }));
  later[0]({.body = "done"});
  EXPECT_THAT(busy.rest(), AllOf(HasSubstr("Connection: close"), EndsWith("done")));
  stopped.get();
}

TEST_F(Http, AStopHasATimeLimitAndALateAnswerIsHarmless) {
  start();
  RawClient busy = client();
  busy.send(get("/later"));
  wait_until_one_is_waiting();
  server->stop(10ms);
  EXPECT_THAT(busy.rest(), IsEmpty());
  server.reset();
  later[0]({.body = "too late"});
  later.clear();
}

TEST_F(Http, NothingIsLeftOfAServerThatEndedBeforeAnAnswer) {
  const auto served = std::make_shared<std::vector<Respond>>();
  {
    std::promise<void> came;
    HttpServer short_lived{{}, [served, &came](const Request&, Respond respond) {
                             served->push_back(std::move(respond));
                             came.set_value();
                           }};
    RawClient one{short_lived.port()};
    one.send(get("/"));
    came.get_future().wait();
  }
  served->clear();
  EXPECT_EQ(served.use_count(), 1);
}

TEST_F(Http, AnAddressThatCannotBeUsedIsNamed) {
  start();
  const auto why = [](const ServerOptions& options) -> std::string {
    try {
      HttpServer{options, [](const Request&, const Respond&) {}};
      return "nothing";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(why({.port = server->port()}), AllOf(HasSubstr("127.0.0.1"), HasSubstr("in use")));
  EXPECT_THAT(why({.address = "localhost!"}), HasSubstr("not an address to listen on"));
  EXPECT_THAT(why({.certificate = "/nowhere.pem", .private_key = "/nowhere.pem"}), HasSubstr("/nowhere.pem"));
}

}  // namespace
}  // namespace easyretry::http
