#include "task/error_kind.h"

#include <gtest/gtest.h>

namespace easyretry::task {
namespace {

TEST(ErrorKind, LeavesOutPartsThatDifferFromTaskToTask) {
  EXPECT_EQ(kind_of("no user 17"), "no user <number>");
  EXPECT_EQ(kind_of("took 1,204.5 ms"), "took <number> ms");
  EXPECT_EQ(kind_of("worker-12 is gone"), "worker-<number> is gone");
  EXPECT_EQ(kind_of("order 5f0c9b21-1d2e-4f3a-8b4c-5d6e7f8a9b0c is closed"), "order <uuid> is closed");
  EXPECT_EQ(kind_of("segment 0x7f3a at 5f0c9b211d2e"), "segment <hex> at <hex>");
  EXPECT_EQ(kind_of("since 2026-03-01T12:00:00.123Z"), "since <time>");
  EXPECT_EQ(kind_of("since 2026-03-01 12:00:00+01:00, at 12:30"), "since <time>, at <time>");
  EXPECT_EQ(kind_of("on 2026-03-01"), "on <time>");
  EXPECT_EQ(kind_of(R"(no column "age" in 'users')"), "no column <text> in <text>");
  EXPECT_EQ(kind_of("GET https://shop.example/a?b=1 (timeout)"), "GET <url> (timeout)");
}

TEST(ErrorKind, KeepsPartsThatDistinguishErrors) {
  EXPECT_EQ(kind_of("HTTP 503"), "HTTP 503");
  EXPECT_EQ(kind_of("status: 404, code=1205 (errno 111)"), "status: 404, code=1205 (errno 111)");
  EXPECT_NE(kind_of("HTTP 503"), kind_of("HTTP 500"));
  EXPECT_EQ(kind_of("defaced facade"), "defaced facade");
  EXPECT_EQ(kind_of("the bank's server doesn't answer"), "the bank's server doesn't answer");
  EXPECT_EQ(kind_of("an open \" stays"), "an open \" stays");
}

TEST(ErrorKind, IsOneLineOfValidTextOfABoundedLength) {
  EXPECT_EQ(kind_of("a\n  b\t c"), "a b c");
  EXPECT_EQ(kind_of(""), "");
  EXPECT_EQ(kind_of("\xff!"), "\xEF\xBF\xBD!");
  EXPECT_LE(kind_of(std::string(100'000, 'x')).size(), 500U);
}

TEST(ErrorKind, HasAFingerprintThatDoesNotChange) {
  EXPECT_EQ(fingerprint_of("no user <number>"), "002d50e618190060");
}

TEST(ErrorKind, AFingerprintHasSixteenHexadecimalDigits) {
  EXPECT_TRUE(is_fingerprint(fingerprint_of("")));
  EXPECT_TRUE(is_fingerprint("002d50e618190060"));
  for (const char* other : {"", "002d50e61819006", "002d50e6181900600", "002D50E618190060", "no user <number>"}) {
    EXPECT_FALSE(is_fingerprint(other)) << other;
  }
}

}  // namespace
}  // namespace easyretry::task
