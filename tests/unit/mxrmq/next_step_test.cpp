#include "mxrmq/next_step.h"

#include <gtest/gtest.h>

namespace easyretry::mxrmq {
namespace {

using namespace std::chrono_literals;
constexpr std::int64_t kNow = 1'790'000'000'000;

TEST(AfterFailure, MaxRetriesIsTheNumberOfAttempts) {
  Meta meta;  // 3 attempts; 60 s, 300 s, 1800 s
  NextStep first = after_failure(meta, retry_later("boom"), kNow);
  EXPECT_EQ(first.retry_after, 60s);
  EXPECT_EQ(first.meta.retry_count, 1);
  EXPECT_EQ(first.meta.status, Status::retrying);
  EXPECT_EQ(first.meta.last_error, "boom");
  EXPECT_EQ(first.meta.last_retry_at, kNow);
  NextStep second = after_failure(first.meta, retry_later("boom"), kNow);
  EXPECT_EQ(second.retry_after, 300s);
  NextStep third = after_failure(second.meta, retry_later("the last"), kNow + 1);
  EXPECT_EQ(third.retry_after, std::nullopt);
  EXPECT_EQ(third.meta.retry_count, 3);
  EXPECT_EQ(third.meta.status, Status::dead_letter);
  EXPECT_EQ(third.meta.dead_letter_at, kNow + 1);
  EXPECT_EQ(third.meta.last_error, "the last") << "and not that there were too many";
}

TEST(AfterFailure, OneAttemptIsMadeWithZeroOrOne) {
  for (const int most : {0, 1}) {
    Meta meta;
    meta.max_retries = most;
    EXPECT_EQ(after_failure(meta, retry_later("boom"), kNow).retry_after, std::nullopt);
  }
}

TEST(AfterFailure, TheLastDelayRepeatsAndNoneIsAMinute) {
  Meta meta;
  meta.max_retries = 10;
  meta.retry_count = 7;
  meta.retry_delays = {1, 2};
  EXPECT_EQ(after_failure(meta, retry_later(""), kNow).retry_after, 2s);
  meta.retry_delays.clear();
  EXPECT_EQ(after_failure(meta, retry_later(""), kNow).retry_after, 60s);
  meta.retry_delays = {-5};
  EXPECT_EQ(after_failure(meta, retry_later(""), kNow).retry_after, 0s);
}

TEST(AfterFailure, AHandlerMayChooseTheDelayOfOneRetry) {
  const NextStep next = after_failure(Meta{}, retry_after(1500ms, "closed"), kNow);
  EXPECT_EQ(next.retry_after, 1500ms);
  EXPECT_EQ(next.meta.retry_count, 1) << "an attempt like any other";
  EXPECT_EQ(next.meta.last_error, "closed");
  EXPECT_EQ(next.meta.retry_delays, Meta{}.retry_delays) << "the message keeps its own";
  EXPECT_EQ(next.meta.expire_at, kNow + 1500 + 86'400'000) << "a day after it is due, as in Python";
  EXPECT_EQ(after_failure(next.meta, retry_later("boom"), kNow).retry_after, 300s) << "the second delay of the message";
}

TEST(AfterFailure, AChosenDelayIsBounded) {
  EXPECT_EQ(after_failure(Meta{}, retry_after(-1s), kNow).retry_after, 0s);
  EXPECT_EQ(after_failure(Meta{}, retry_after(Millis::max()), kNow).retry_after, Millis{std::chrono::years{10}});
}

TEST(AfterFailure, AChosenDelayDoesNotAddAttempts) {
  Meta meta;
  meta.retry_count = 2;
  EXPECT_EQ(after_failure(meta, retry_after(1s, "closed"), kNow).retry_after, std::nullopt);
}

TEST(AfterFailure, AHandlerMayGiveUpAtOnce) {
  const NextStep next = after_failure(Meta{}, give_up("no such customer"), kNow);
  EXPECT_EQ(next.retry_after, std::nullopt);
  EXPECT_EQ(next.meta.status, Status::dead_letter);
  EXPECT_EQ(next.meta.last_error, "no such customer");
  EXPECT_EQ(next.meta.retry_count, 1);
}

TEST(AfterLoss, WaitsTheFirstDelayAndNotTheLast) {
  const NextStep next = after_loss(Meta{}, 1, 3, kNow);
  EXPECT_EQ(next.retry_after, 60s);
  EXPECT_EQ(next.meta.retry_count, 0);
}

TEST(AfterLoss, AMessageThatKillsItsWorkersBecomesADeadLetter) {
  EXPECT_TRUE(after_loss(Meta{}, 3, 3, kNow).retry_after);
  const NextStep next = after_loss(Meta{}, 4, 3, kNow);
  EXPECT_FALSE(next.retry_after);
  EXPECT_EQ(next.meta.last_error, "worker lost 4 times");
}

TEST(AfterLoss, AMessageWithoutAttemptsLeftIsADeadLetter) {
  Meta meta;
  meta.max_retries = 0;
  EXPECT_FALSE(after_loss(meta, 1, 3, kNow).retry_after);
}

TEST(Requeued, StartsAgain) {
  Meta meta = after_loss(Meta{}, 9, 3, kNow).meta;
  meta.retry_count = 3;
  const Meta again = requeued(meta, kNow + 5);
  EXPECT_EQ(again.retry_count, 0);
  EXPECT_EQ(again.status, Status::pending);
  EXPECT_EQ(again.retried_from_dlq_at, kNow + 5);
}

}  // namespace
}  // namespace easyretry::mxrmq
