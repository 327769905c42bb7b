// Backlogs and failure rates: too high, and back to normal. The clock is stepped manually.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/alert/support.h"

namespace easyretry::alert {
namespace {

AlertRule backlog_rule() {
  AlertRule rule;
  rule.channels = {"ops"};
  rule.backlog_age = 10min;
  return rule;
}

AlertRule rate_rule() {
  AlertRule rule;
  rule.channels = {"ops"};
  rule.failure_rate = 50;
  rule.min_attempts = 10;
  return rule;
}

void attempts(Rules& rules, int failed, int succeeded, Instant now) {
  for (int i = 0; i < failed; ++i) rules.feed(event_of(EventKind::attempt_failed, "pay", i + 1), now);
  for (int i = 0; i < succeeded; ++i) rules.feed(event_of(EventKind::succeeded, "pay", i + 1), now);
}

TEST(BacklogAge, IsReportedOnceAtTheLimitAndOnceWellBelowIt) {
  Rules rules{config_with(backlog_rule())};
  EXPECT_FALSE(rules.feed_backlog("default", {{"pay", 9min}}, true, kStart));
  EXPECT_TRUE(rules.feed_backlog("default", {{"pay", 10min}}, true, kStart + 60s));
  const auto firing = rules.next("ops", kStart + 60s);
  ASSERT_TRUE(firing);
  EXPECT_EQ(firing->kind, Kind::backlog_age);
  EXPECT_FALSE(firing->resolved);
  EXPECT_EQ(firing->age, 10min);
  EXPECT_EQ(firing->age_limit, 10min);
  rules.feed_backlog("default", {{"pay", 30min}}, true, kStart + 20min);
  EXPECT_FALSE(rules.next("ops", kStart + 20min));
  rules.feed_backlog("default", {{"pay", 5min}}, true, kStart + 21min);
  const auto resolved = rules.next("ops", kStart + 21min);
  ASSERT_TRUE(resolved);
  EXPECT_TRUE(resolved->resolved);
  EXPECT_EQ(resolved->age, 5min);
  EXPECT_FALSE(rules.next("ops", kStart + 2h));
}

TEST(BacklogAge, AroundTheLimitNothingRings) {
  Rules rules{config_with(backlog_rule())};
  rules.feed_backlog("default", {{"pay", 10min}}, true, kStart);
  ASSERT_TRUE(rules.next("ops", kStart));
  for (int i = 1; i < 100; ++i) {
    rules.feed_backlog("default", {{"pay", i % 2 == 0 ? Millis{10min} : Millis{6min}}}, true, kStart + i * 10s);
    EXPECT_FALSE(rules.next("ops", kStart + i * 10s));
  }
}

TEST(BacklogAge, ALevelThatComesAndGoesIsReportedOnceAWindow) {
  Rules rules{config_with(backlog_rule())};
  rules.feed_backlog("default", {{"pay", 10min}}, true, kStart);
  ASSERT_TRUE(rules.next("ops", kStart));
  rules.feed_backlog("default", {}, true, kStart + 1s);
  ASSERT_TRUE(rules.next("ops", kStart + 1s)->resolved);
  rules.feed_backlog("default", {{"pay", 10min}}, true, kStart + 2s);
  EXPECT_FALSE(rules.next("ops", kStart + 299s));
  EXPECT_TRUE(rules.next("ops", kStart + 300s));
}

TEST(BacklogAge, AHandlerThatWasNotLookedAtIsNotCalledFine) {
  Rules rules{config_with(backlog_rule())};
  rules.feed_backlog("default", {{"pay", 10min}}, true, kStart);
  ASSERT_TRUE(rules.next("ops", kStart));
  rules.feed_backlog("default", {{"mail", 1min}}, false, kStart + 10s);
  rules.feed_backlog("other", {}, true, kStart + 10s);
  EXPECT_FALSE(rules.next("ops", kStart + 10s));
  rules.feed_backlog("default", {}, true, kStart + 20s);
  EXPECT_TRUE(rules.next("ops", kStart + 20s)->resolved);
}

TEST(BacklogAge, ATroubleThatWasNeverReportedIsNotReportedAsOver) {
  AlertsConfig config = config_with(backlog_rule());
  config.channels["ops"].per_minute = 1;
  Rules rules{config};
  rules.feed_backlog("default", {{"mail", 10min}, {"pay", 10min}}, true, kStart);
  ASSERT_EQ(rules.next("ops", kStart)->handler, "mail");
  rules.feed_backlog("default", {{"mail", 10min}}, true, kStart + 1s);
  EXPECT_EQ(rules.next_at("ops"), Instant::max());
}

TEST(CircuitOpen, IsReportedWhenItHasBeenOpenForTheGivenTimeAndWhenItCloses) {
  AlertRule rule;
  rule.channels = {"ops"};
  rule.handlers = {"pay*"};
  rule.circuit_open = 1min;
  Rules rules{config_with(rule)};
  EXPECT_TRUE(rules.wants_circuits());
  EXPECT_FALSE(rules.wants_backlog());
  EXPECT_FALSE(rules.feed_circuits("default", {{"gateway", {"mail", "payment"}, 59s}}, kStart));
  EXPECT_FALSE(rules.feed_circuits("default", {{"smtp", {"mail"}, 1h}}, kStart)) << "not a handler of the rule";
  EXPECT_TRUE(rules.feed_circuits("default", {{"gateway", {"mail", "payment"}, 1min}}, kStart + 1s));
  const auto firing = rules.next("ops", kStart + 1s);
  ASSERT_TRUE(firing);
  EXPECT_EQ(firing->kind, Kind::circuit_open);
  EXPECT_EQ(headline(*firing),
            "[EasyRetry] gateway: the circuit has been open for 1m (limit 1m), and tasks are held back");
  rules.feed_circuits("other", {}, kStart + 2s);
  EXPECT_FALSE(rules.next("ops", kStart + 2s));
  rules.feed_circuits("default", {}, kStart + 3s);
  EXPECT_EQ(headline(*rules.next("ops", kStart + 3s)), "[EasyRetry] gateway: resolved: the circuit is closed again");
}

TEST(FailureRate, NeedsEnoughAttemptsAndSaysHowManyFailed) {
  Rules rules{config_with(rate_rule())};
  attempts(rules, 9, 0, kStart);
  EXPECT_FALSE(rules.next("ops", kStart));
  attempts(rules, 0, 1, kStart + 1s);
  const auto message = rules.next("ops", kStart + 1s);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, Kind::failure_rate);
  EXPECT_EQ(message->count, 9U);
  EXPECT_EQ(message->attempts, 10U);
  EXPECT_EQ(message->rate_limit, 50);
  EXPECT_EQ(message->within, 5min);
  ASSERT_EQ(message->samples.size(), 3U);
  EXPECT_EQ(message->samples.back().key, "order-9");
}

TEST(FailureRate, BelowTheLimitIsNotTold) {
  Rules rules{config_with(rate_rule())};
  attempts(rules, 0, 51, kStart);
  attempts(rules, 49, 0, kStart);
  EXPECT_EQ(rules.next_at("ops"), Instant::max());
  attempts(rules, 2, 0, kStart);
  EXPECT_TRUE(rules.next("ops", kStart));
}

TEST(FailureRate, IsFineAgainAtHalfTheLimitNotJustBelowIt) {
  Rules rules{config_with(rate_rule())};
  attempts(rules, 10, 0, kStart);
  ASSERT_TRUE(rules.next("ops", kStart));
  attempts(rules, 0, 29, kStart + 1s);  // 10 of 39
  EXPECT_FALSE(rules.next("ops", kStart + 1s));
  attempts(rules, 0, 1, kStart + 2s);  // 10 of 40
  const auto resolved = rules.next("ops", kStart + 2s);
  ASSERT_TRUE(resolved);
  EXPECT_TRUE(resolved->resolved);
  EXPECT_TRUE(resolved->samples.empty());
}

TEST(FailureRate, OldAttemptsAreForgotten) {
  Rules rules{config_with(rate_rule())};
  attempts(rules, 10, 0, kStart);
  ASSERT_TRUE(rules.next("ops", kStart));
  EXPECT_FALSE(rules.tick(kStart + 4min));
  EXPECT_TRUE(rules.tick(kStart + 5min + 30s));
  const auto resolved = rules.next("ops", kStart + 5min + 30s);
  ASSERT_TRUE(resolved);
  EXPECT_TRUE(resolved->resolved);
  EXPECT_EQ(resolved->attempts, 0U);
}

}  // namespace
}  // namespace easyretry::alert
