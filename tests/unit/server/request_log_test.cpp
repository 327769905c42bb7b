#include "server/request_log.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

#include "base/log_line.h"

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

struct RequestLogTest : ::testing::Test {
  LogSink sink() {
    return [this](LogLevel level, std::string_view text) {
      const char* name = level == LogLevel::error ? "error" : level == LogLevel::info ? "info" : "debug";
      lines.push_back(std::string{name} + " " + std::string{base::LoggedRequest::id_on_this_thread()} + " " +
                      std::string{text});
    };
  }
  static http::Answered answered(int status, std::string_view problem = "") {
    return {"id-1", "GET /v1/tasks", "10.0.0.9", status, problem};
  }
  std::size_t lines_with(std::string_view text) const {
    return static_cast<std::size_t>(std::count_if(
        lines.begin(), lines.end(), [&](const std::string& line) { return line.find(text) != std::string::npos; }));
  }

  std::vector<std::string> lines;
  easyretry::testing::ManualClock clock;
  RequestLog log{sink(), false, clock};
};

TEST_F(RequestLogTest, WithoutASinkNothingIsLogged) {
  RequestLog silent{{}, true, clock};
  for (const int status : {200, 404, 503}) EXPECT_NO_THROW(silent.note(answered(status)));
}

TEST_F(RequestLogTest, TellsRefusalsFromErrors) {
  log.note(answered(404, "not_found: there is no task 17"));
  log.note(answered(503, "store_unavailable: the store does not answer"));
  log.note(answered(200));
  EXPECT_THAT(lines,
              ElementsAre("info id-1 GET /v1/tasks from 10.0.0.9: 404 not_found: there is no task 17",
                          "error id-1 GET /v1/tasks from 10.0.0.9: 503 store_unavailable: the store does not answer"));
}

TEST_F(RequestLogTest, HasServedRequestsIfAllAreAskedFor) {
  RequestLog all{sink(), true, clock};
  all.note(answered(200));
  EXPECT_THAT(lines, ElementsAre("debug id-1 GET /v1/tasks from 10.0.0.9: 200"));
}

TEST_F(RequestLogTest, SaysHowManyItHasLeftOutInAFlood) {
  for (int i = 0; i < 100; ++i) log.note(answered(401, "unauthorized: the token is unknown"));
  EXPECT_THAT(lines, SizeIs(RequestLog::kMostASecond));
  clock.advance(1s);
  log.note(answered(401, "unauthorized: the token is unknown"));
  EXPECT_EQ(lines_with("80 similar requests before this one"), 1U);
  EXPECT_THAT(lines, SizeIs(RequestLog::kMostASecond + 2));
}

TEST_F(RequestLogTest, AFloodOfRefusalsDoesNotHideAnError) {
  for (int i = 0; i < 100; ++i) log.note(answered(401, "unauthorized: the token is unknown"));
  log.note(answered(500, "internal: out of memory"));
  EXPECT_THAT(lines.back(), HasSubstr("500 internal: out of memory"));
}

TEST_F(RequestLogTest, CutsTextOfTheClient) {
  const std::string path = "GET /" + std::string(10'000, 'x');
  log.note({"id-1", path, "10.0.0.9", 404, "not_found: there is nothing at " + path});
  EXPECT_LT(lines.front().size(), 1200U);
}

}  // namespace
}  // namespace easyretry::server
