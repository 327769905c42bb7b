#include "base/log_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time_text.h"

namespace easyretry::base {
namespace {

const TimePoint kTime = parse_time("2026-03-01T12:00:00.042Z");

TEST(LogLine, HasATimeALevelAndAMessage) {
  EXPECT_EQ(to_text(LogLine{kTime, LogLevel::warning, "the disk is full"}),
            "2026-03-01T12:00:00.042Z easyretry: warning: the disk is full");
  EXPECT_EQ(to_json(LogLine{kTime, LogLevel::error, "the disk is full"}),
            R"({"level":"error","message":"the disk is full","time":"2026-03-01T12:00:00.042Z"})");
}

TEST(LogLine, HasTheIdOfItsRequest) {
  EXPECT_EQ(to_text(LogLine{kTime, LogLevel::info, "no such task", "5f0c"}),
            "2026-03-01T12:00:00.042Z easyretry: info: request 5f0c: no such task");
  EXPECT_EQ(to_json(LogLine{kTime, LogLevel::debug, "ok", "5f0c"}),
            R"({"level":"debug","message":"ok","request_id":"5f0c","time":"2026-03-01T12:00:00.042Z"})");
}

TEST(LogLine, IsOneLineWhateverTheMessageContains) {
  const LogLine line{kTime, LogLevel::info, "a\nb\x1b[2J\x7f\xc2\x9b\xe2\x80\xa8\"\\\xff"};
  EXPECT_EQ(to_text(line), "2026-03-01T12:00:00.042Z easyretry: info: a b [2J   \"\\\xef\xbf\xbd");
  EXPECT_EQ(to_json(line),
            "{\"level\":\"info\",\"message\":\"a\\nb\\u001b[2J\\u007f\\u009b\\u2028"
            "\\\"\\\\\xef\xbf\xbd\",\"time\":\"2026-03-01T12:00:00.042Z\"}");
}

TEST(LoggedRequest, IsThatOfTheInnermostScopeOfTheThread) {
  EXPECT_EQ(LoggedRequest::id_on_this_thread(), "");
  const LoggedRequest outer{"outer"};
  {
    const LoggedRequest inner{"inner"};
    EXPECT_EQ(LoggedRequest::id_on_this_thread(), "inner");
  }
  EXPECT_EQ(LoggedRequest::id_on_this_thread(), "outer");
}

TEST(StderrLog, LeavesOutMessagesBelowItsLevel) {
  ::testing::internal::CaptureStderr();
  const LogSink log = stderr_log();
  log(LogLevel::debug, "first");
  log(LogLevel::info, "second");
  log(LogLevel::warning, "third");
  stderr_log({LogLevel::debug, LogFormat::json})(LogLevel::debug, "fourth");
  const std::string written = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(written, ::testing::MatchesRegex(
                           "[^\n]*Z easyretry: warning: third\n[{][^\n]*\"message\":\"fourth\",[^\n]*[}]\n"));
}

}  // namespace
}  // namespace easyretry::base
