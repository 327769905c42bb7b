// The text in which stores keep the last attempts of a task.

#include "task/attempt_log.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/utf8.h"

namespace easyretry::task {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr TimePoint kTime{1'772'366'400'000ms};

PastAttempt some_attempt() {
  return {.number = 3,
          .began_at = kTime,
          .ended_at = kTime + 1500ms,
          .end = AttemptEnd::failed,
          .by = "pay-1",
          .error = "bank busy"};
}

PastAttempt read_back(const PastAttempt& attempt) {
  return parse_attempts(attempt_line(attempt)).at(0);
}

// Databases have it: it stays as it is.
TEST(AttemptLine, HasOneFieldAfterTheOther) {
  EXPECT_EQ(attempt_line(some_attempt()), "3\t1772366400000\t1772366401500\tfailed\tpay-1\tbank busy");
}

TEST(AttemptLine, IsReadAsItWasWritten) {
  for (const AttemptEnd end : {AttemptEnd::succeeded, AttemptEnd::failed, AttemptEnd::crashed, AttemptEnd::lost}) {
    PastAttempt attempt = some_attempt();
    attempt.end = end;
    attempt.error = "line 1\nline 2\ttab";
    if (end == AttemptEnd::crashed) attempt.began_at.reset();
    const PastAttempt read = read_back(attempt);
    EXPECT_EQ(read.number, attempt.number);
    EXPECT_EQ(read.began_at, attempt.began_at);
    EXPECT_EQ(read.ended_at, attempt.ended_at);
    EXPECT_EQ(read.end, attempt.end);
    EXPECT_EQ(read.by, attempt.by);
    EXPECT_EQ(read.error, attempt.error);
  }
}

TEST(AttemptLine, HasAtMost500BytesOfValidUtf8) {
  for (const std::string& text : {std::string(5000, 'x'), std::string(5000, '\xff'), std::string(5000, '\0')}) {
    PastAttempt attempt = some_attempt();
    attempt.number = std::numeric_limits<int>::max();
    attempt.by = attempt.error = text;
    const std::string line = attempt_line(attempt);
    EXPECT_LE(line.size(), 500U);
    EXPECT_EQ(base::invalid_utf8(line), std::string_view::npos);
    EXPECT_TRUE(read_back(attempt).error.ends_with("…"));
  }
}

TEST(AttemptLine, CutsNoCharacter) {
  PastAttempt attempt = some_attempt();
  for (int i = 0; i < 200; ++i) attempt.error += "错";
  const std::string cut = read_back(attempt).error;
  EXPECT_EQ(cut.size(), 300U);
  EXPECT_EQ(base::invalid_utf8(cut), std::string_view::npos);
}

TEST(AttemptLog, HasTheNewestLineFirstAndEightAtMost) {
  std::string log;
  for (int number = 1; number <= 9; ++number) {
    PastAttempt attempt = some_attempt();
    attempt.number = number;
    log = with_attempt(log, attempt_line(attempt));
  }
  const auto attempts = parse_attempts(log);
  ASSERT_THAT(attempts, SizeIs(kLastAttempts));
  EXPECT_EQ(attempts.front().number, 9);
  EXPECT_EQ(attempts.back().number, 2);
  EXPECT_EQ(attempts_text(attempts), log);
  EXPECT_EQ(with_attempt(log, ""), log);
  EXPECT_LE(log.size(), 4096U);
}

TEST(AttemptLog, LeavesOutLinesThatMakeNoSense) {
  const std::string good = attempt_line(some_attempt());
  for (const std::string bad :
       {"", "x", "1\t2", "1\t2\t3\tvanished\tby\tno", "99999999999\t\t1\tfailed\t\t", "1\t\t\tlost"}) {
    EXPECT_THAT(parse_attempts(bad), IsEmpty()) << bad;
    EXPECT_THAT(parse_attempts(bad + "\n" + good), SizeIs(1)) << bad;
  }
  EXPECT_THAT(parse_attempts("1\t\t5\tlost"), SizeIs(1)) << "a claim writes no error, and perhaps no name";
}

TEST(LostAttempt, IsACrashOnlyIfItSurelyBegan) {
  TaskRecord record;
  record.info.attempts = 2;
  record.locked_by = "pay-1";
  record.lease_until = kTime;
  EXPECT_EQ(lost_attempt(record).end, AttemptEnd::lost);
  record.began = true;
  EXPECT_EQ(lost_attempt(record).end, AttemptEnd::crashed);
  EXPECT_EQ(lost_attempt(record).ended_at, kTime);
  EXPECT_EQ(lost_attempt(record).by, "pay-1");
}

}  // namespace
}  // namespace easyretry::task
