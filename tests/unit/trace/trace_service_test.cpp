#include "trace/trace_service.h"

#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/easyretry.h>

#include "engine/inline_workers.h"
#include "http/http_server.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "trace/wire.h"

namespace easyretry::trace {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

tl::expected<http::ClientReply, http::NoAnswer> answer(int status) {
  return http::ClientReply{status, ""};
}

TEST(TraceVerdict, OverloadedAndRestartingCollectorsAreAskedAgain) {
  for (const int status : {429, 502, 503, 504}) EXPECT_TRUE(verdict_of(answer(status), "").again) << status;
  for (const int status : {301, 400, 401, 404, 413, 500}) EXPECT_FALSE(verdict_of(answer(status), "").again) << status;
  EXPECT_TRUE(verdict_of(tl::make_unexpected(http::NoAnswer{}), "").again);
  EXPECT_TRUE(verdict_of(answer(200), "").taken);
  EXPECT_TRUE(verdict_of(answer(202), "").taken);
}

TEST(TraceVerdict, ACollectorSaysHowLongToWait) {
  EXPECT_EQ(verdict_of(answer(429), "7").retry_after, 7s);
  EXPECT_EQ(verdict_of(answer(503), "0").retry_after, 0s);
  EXPECT_EQ(verdict_of(answer(503), "999999999").retry_after, 5min);
  for (const auto* text : {"", "-1", "soon", "Wed, 21 Oct 2026 07:28:00 GMT"}) {
    EXPECT_EQ(verdict_of(answer(503), text).retry_after, std::nullopt) << text;
  }
}

TEST(TraceVerdict, PausesDoubleUpToHalfAMinuteUnlessTheCollectorSaysMore) {
  EXPECT_EQ(pause_after(1, {}, 0), 1s);
  EXPECT_EQ(pause_after(2, {}, 0), 2s);
  EXPECT_EQ(pause_after(50, {}, 0), 30s);
  EXPECT_GE(pause_after(1, {}, 0.999), 750ms);
  EXPECT_EQ(pause_after(1, 2min, 0.5), 2min);
}

// Answers as it is told; the last answer stays.
class Collector {
 public:
  explicit Collector(std::vector<http::Response> answers) : answers_(std::move(answers)) {}

  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()) + "/v1/traces"; }
  std::vector<http::Request> requests() const {
    const std::lock_guard lock{mutex_};
    return requests_;
  }

 private:
  void serve(http::Request request, const http::Respond& respond) {
    const std::lock_guard lock{mutex_};
    requests_.push_back(std::move(request));
    respond(answers_[std::min(requests_.size(), answers_.size()) - 1]);
  }

  mutable std::mutex mutex_;
  std::vector<http::Response> answers_;
  std::vector<http::Request> requests_;  // guarded by mutex_
  http::HttpServer server_{{}, http::Serve{[this](http::Request request, const http::Respond& respond) {
                             serve(std::move(request), respond);
                           }}};
};

// An address where nothing listens.
std::string nowhere() {
  const Collector gone{{}};
  return gone.url();
}

class TraceServices : public ::testing::Test {
 protected:
  // Its core's spans are sent; nothing has to run for that.
  void open(Settings settings) {
    settings.delay = 1ms;
    service.emplace(settings, [this](LogLevel, std::string_view text) {
      const std::lock_guard lock{mutex};
      log.emplace_back(text);
    });
    service->listen(core);
  }
  void tell(int spans) {
    for (int i = 0; i < spans; ++i)
      core.spans().tell({.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", .name = "attempt"});
  }
  std::vector<std::string> logged() {
    const std::lock_guard lock{mutex};
    return log;
  }

  std::mutex mutex;
  std::vector<std::string> log;  // guarded by mutex
  engine::Core core{storage::open_store("memory:", system_clock()),
                    system_clock(),
                    {},
                    [](const auto& context, const auto& outcomes) {
                      return std::make_unique<engine::InlineWorkers>(*context, *outcomes);
                    }};
  std::optional<TraceService> service;
};

TEST_F(TraceServices, SpansArriveWithTheHeadersThatWereAskedFor) {
  Collector collector{{{.body = ""}}};
  open({.url = collector.url(), .headers = {"authorization: Bearer x"}});
  tell(3);
  ASSERT_TRUE(test::eventually([&] { return service->counts().sent == 3; }));
  const http::Request request = collector.requests().front();
  EXPECT_EQ(request.method, http::Method::post);
  EXPECT_EQ(request.header("content-type"), "application/x-protobuf");
  EXPECT_EQ(request.header("authorization"), "Bearer x");
  EXPECT_EQ(WireReader{request.body}.next()->number, 1U);
  EXPECT_EQ(service->counts().dropped, 0U);
}

TEST_F(TraceServices, ABatchThatIsRefusedForNowIsSentAgain) {
  Collector collector{
      {{.status = 503, .headers = {{"Retry-After", "0"}}}, {.status = 429, .headers = {{"Retry-After", "0"}}}, {}}};
  open({.url = collector.url()});
  tell(1);
  ASSERT_TRUE(test::eventually([&] { return service->counts().sent == 1; }));
  EXPECT_EQ(collector.requests()[0].body, collector.requests()[2].body);
  EXPECT_THAT(logged(), ElementsAre(HasSubstr("does not take spans: HTTP 503"), HasSubstr("takes spans again")));
}

TEST_F(TraceServices, ARetryWaitsAsLongAsTheCollectorSays) {
  Collector collector{{{.status = 429, .headers = {{"Retry-After", "2"}}}, {}}};
  open({.url = collector.url()});
  tell(1);
  ASSERT_TRUE(test::eventually([&] { return collector.requests().size() == 1; }));
  const Instant refused = system_clock().steady();
  ASSERT_TRUE(test::eventually([&] { return collector.requests().size() == 2; }));
  EXPECT_GE(system_clock().steady() - refused, 1500ms);  // the usual first pause is a second at most
}

TEST_F(TraceServices, APermanentlyRefusedBatchIsDroppedAndTheNextOneIsSent) {
  Collector collector{{{.status = 400}, {}}};
  open({.url = collector.url()});
  tell(1);
  ASSERT_TRUE(test::eventually([&] { return service->counts().dropped == 1; }));
  tell(1);
  ASSERT_TRUE(test::eventually([&] { return service->counts().sent == 1; }));
}

TEST_F(TraceServices, SpansThatACollectorRejectsCountAsDropped) {
  Collector collector{{{.body = "\x0a\x02\x08\x02", .content_type = "application/x-protobuf"}}};
  open({.url = collector.url(), .batch = 5});
  tell(5);
  ASSERT_TRUE(test::eventually([&] { return service->counts().sent + service->counts().dropped == 5; }));
  EXPECT_EQ(service->counts().dropped % 2, 0U);
  EXPECT_GE(service->counts().dropped, 1U);
}

TEST_F(TraceServices, WhileTheCollectorIsAwayABoundedNumberOfSpansWaitsAndNoTaskDoes) {
  open({.url = nowhere(), .most_waiting = 10, .batch = 1});
  const Instant began = system_clock().steady();
  tell(10'000);
  EXPECT_LT(system_clock().steady() - began, 5s);
  EXPECT_GE(service->counts().dropped, 10'000U - 10U - 5U);
  EXPECT_EQ(service->counts().sent, 0U);
  ASSERT_TRUE(test::eventually([&] { return !logged().empty(); }));
  EXPECT_THAT(logged(), ElementsAre(HasSubstr("does not take spans")));
}

TEST_F(TraceServices, AStopSendsTheRest) {
  Collector collector{{{}}};
  Settings settings{.url = collector.url(), .batch = 100};
  settings.delay = 1h;
  service.emplace(settings, LogSink{});
  service->listen(core);
  tell(250);
  service->stop();
  EXPECT_EQ(service->counts().sent, 250U);
  tell(1);
  EXPECT_EQ(service->counts().dropped, 1U);
}

TEST_F(TraceServices, AStopDoesNotWaitForACollectorThatIsAway) {
  open({.url = nowhere()});
  tell(10);
  ASSERT_TRUE(test::eventually([&] { return !logged().empty(); }));  // it pauses now
  const Instant began = system_clock().steady();
  service->stop();
  EXPECT_LT(system_clock().steady() - began, 4s);
  EXPECT_EQ(service->counts().dropped, 10U);
}

TEST_F(TraceServices, AStopWaitsAFewSecondsForACollectorThatHangs) {
  std::vector<http::Respond> kept;
  std::mutex keeping;
  http::HttpServer hanging{{}, http::Serve{[&](const http::Request&, http::Respond respond) {
                             const std::lock_guard lock{keeping};
                             kept.push_back(std::move(respond));
                           }}};
  open({.url = "http://127.0.0.1:" + std::to_string(hanging.port())});
  tell(1);
  ASSERT_TRUE(test::eventually([&] {
    const std::lock_guard lock{keeping};
    return kept.size() == 1;
  }));
  const Instant began = system_clock().steady();
  service->stop();
  EXPECT_LT(system_clock().steady() - began, 8s);  // three seconds, on a busy machine
  EXPECT_EQ(service->counts().dropped, 1U);
}

// Of an application: the variables of this process decide.
class EngineInAnApplication : public ::testing::Test {
 protected:
  void set(const char* name, const std::string& value) {
    setenv(name, value.c_str(), 1);
    names_.push_back(name);
  }
  void TearDown() override {
    for (const char* name : names_) unsetenv(name);
  }

 private:
  std::vector<const char*> names_;
};

TEST_F(EngineInAnApplication, SendsItsSpansUntilItStops) {
  Collector collector{{{}}};
  set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", collector.url());
  Engine engine{"memory:", {.log = nullptr}};
  auto pay = engine.retryable("pay", [](int) {});
  pay.submit(1);
  engine.start();
  ASSERT_TRUE(test::eventually([&] { return engine.stats().succeeded == 1; }));
  engine.stop();
  ASSERT_THAT(collector.requests(), SizeIs(1));
  EXPECT_THAT(collector.requests().front().body, HasSubstr("submit pay"));
  EXPECT_THAT(collector.requests().front().body, HasSubstr("attempt pay"));
  EXPECT_THAT(collector.requests().front().body, HasSubstr("unknown_service:unit_trace"));
}

TEST_F(EngineInAnApplication, RefusesAWrongVariableBeforeItOpensItsStore) {
  set("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318");
  set("OTEL_TRACES_SAMPLER", "sometimes");
  EXPECT_THROW((Engine{"memory:", {.log = nullptr}}), std::invalid_argument);
}

}  // namespace
}  // namespace easyretry::trace
