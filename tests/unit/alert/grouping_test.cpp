// Final failures and quarantines: which are reported together, when, and how often. The clock is stepped manually.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/alert/support.h"

namespace easyretry::alert {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::SizeIs;

AlertRule failures_rule() {
  AlertRule rule;
  rule.channels = {"ops"};
  rule.final_failures = 1;
  return rule;
}

TEST(Grouping, ABurstIsOneMessageAfterTheWaitWithACountAndSomeOfTheTasks) {
  Rules rules{config_with(failures_rule())};
  for (int i = 1; i <= 5; ++i) rules.feed(event_of(EventKind::gave_up, "pay", i), kStart + i * 1s);
  EXPECT_EQ(rules.next_at("ops"), kStart + 11s);
  EXPECT_FALSE(rules.next("ops", kStart + 10s));
  const auto message = rules.next("ops", kStart + 11s);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, Kind::final_failure);
  EXPECT_EQ(message->handler, "pay");
  EXPECT_EQ(message->name_space, "default");
  EXPECT_EQ(message->rule, "rule");
  EXPECT_EQ(message->count, 5U);
  EXPECT_EQ(message->within, 10s);
  EXPECT_THAT(message->samples, ElementsAre(Field(&Sample::key, "order-1"), Field(&Sample::key, "order-2"),
                                            Field(&Sample::key, "order-3")));
  EXPECT_EQ(message->samples.front().error, "503 from the bank");
  EXPECT_FALSE(rules.next("ops", kStart + 1h));
}

TEST(Grouping, OneMessageAWindowAndTheNextOneCountsTheEventsBetween) {
  Rules rules{config_with(failures_rule())};
  rules.feed(event_of(EventKind::gave_up), kStart);
  ASSERT_TRUE(rules.next("ops", kStart + 10s));
  for (int i = 0; i < 7; ++i) rules.feed(event_of(EventKind::gave_up), kStart + 20s);
  EXPECT_FALSE(rules.next("ops", kStart + 309s));
  const auto second = rules.next("ops", kStart + 310s);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->count, 7U);
}

TEST(Grouping, HandlersAndKindsAreToldApart) {
  AlertRule rule = failures_rule();
  rule.quarantines = 1;
  Rules rules{config_with(rule)};
  rules.feed(event_of(EventKind::gave_up, "pay"), kStart);
  rules.feed(event_of(EventKind::parked, "pay"), kStart);
  rules.feed(event_of(EventKind::quarantined, "pay"), kStart);
  rules.feed(event_of(EventKind::gave_up, "mail"), kStart);
  std::vector<std::string> told;
  while (const auto message = rules.next("ops", kStart + 10s)) {
    told.push_back(message->handler + " " + std::to_string(static_cast<int>(message->kind)) + " " +
                   std::to_string(message->count));
  }
  EXPECT_THAT(told, testing::UnorderedElementsAre("pay 0 2", "pay 1 1", "mail 0 1"));
}

TEST(Grouping, FewerThanTheThresholdWithinAWindowAreNotTold) {
  AlertRule rule = failures_rule();
  rule.final_failures = 3;
  Rules rules{config_with(rule)};
  rules.feed(event_of(EventKind::gave_up), kStart);
  rules.feed(event_of(EventKind::gave_up), kStart + 1s);
  EXPECT_EQ(rules.next_at("ops"), Instant::max());
  rules.feed(event_of(EventKind::gave_up), kStart + 300s);  // the first window is over
  EXPECT_EQ(rules.next_at("ops"), Instant::max());
  rules.feed(event_of(EventKind::gave_up), kStart + 301s);
  EXPECT_TRUE(rules.feed(event_of(EventKind::gave_up), kStart + 302s));
  EXPECT_EQ(rules.next("ops", kStart + 312s)->count, 3U);
}

TEST(Grouping, OrdinaryEventsAreNotReported) {
  AlertRule rule = failures_rule();
  rule.quarantines = 1;
  const Rules rules{config_with(rule)};
  EXPECT_TRUE(rules.wants(EventKind::gave_up));
  EXPECT_TRUE(rules.wants(EventKind::parked));
  EXPECT_TRUE(rules.wants(EventKind::quarantined));
  for (const EventKind kind : {EventKind::stored, EventKind::claimed, EventKind::attempt_failed, EventKind::succeeded,
                               EventKind::cancelled, EventKind::retry_scheduled}) {
    EXPECT_FALSE(rules.wants(kind)) << static_cast<int>(kind);
  }
}

TEST(Grouping, ARuleIsForItsHandlersAndNamespaces) {
  AlertRule rule = failures_rule();
  rule.handlers = {"pay.*", "mail"};
  rule.namespaces = {"default"};
  Rules rules{config_with(rule)};
  Event elsewhere = event_of(EventKind::gave_up, "pay.card");
  elsewhere.task.name_space = "other";
  EXPECT_FALSE(rules.feed(elsewhere, kStart));
  EXPECT_FALSE(rules.feed(event_of(EventKind::gave_up, "mails"), kStart));
  EXPECT_FALSE(rules.feed(event_of(EventKind::gave_up, "pay"), kStart));
  EXPECT_TRUE(rules.feed(event_of(EventKind::gave_up, "pay.card"), kStart));
  EXPECT_TRUE(rules.feed(event_of(EventKind::gave_up, "mail"), kStart));
}

TEST(Grouping, EachChannelOfARuleGetsTheMessageOnce) {
  AlertRule rule = failures_rule();
  rule.channels = {"ops", "mail", "ops"};
  Rules rules{config_with(rule)};
  rules.feed(event_of(EventKind::gave_up), kStart);
  EXPECT_TRUE(rules.next("ops", kStart + 10s));
  EXPECT_TRUE(rules.next("mail", kStart + 10s));
  EXPECT_FALSE(rules.next("ops", kStart + 10s));
}

TEST(Grouping, ATaskIsDescribedInOneLineOfBoundedLength) {
  Rules rules{config_with(failures_rule())};
  Event event = event_of(EventKind::gave_up);
  event.task.key = "a\r\nb\x01" + std::string(5000, 'k');
  event.message = "first\nsecond " + std::string(5000, 'e');
  rules.feed(event, kStart);
  const Sample sample = rules.next("ops", kStart + 10s)->samples.front();
  EXPECT_EQ(sample.key, "a  b " + std::string(95, 'k') + "…");
  EXPECT_EQ(sample.error, "first second " + std::string(187, 'e') + "…");
}

TEST(Grouping, HandlersWithoutNumberAreToldTogetherBeyondTheBound) {
  Rules rules{config_with(failures_rule())};
  for (std::size_t i = 0; i < kMostGroups + 500; ++i) {
    rules.feed(event_of(EventKind::gave_up, "h" + std::to_string(i)), kStart + Millis{i});
  }
  std::size_t messages = 0;
  std::uint64_t others = 0;
  for (Instant now = kStart + 20s; const auto message = rules.next("ops", now); now += 6s) {
    ++messages;
    if (message->handler == kOthers) others = message->count;
  }
  EXPECT_EQ(messages, kMostGroups + 1);
  EXPECT_EQ(others, 500U);
}

TEST(Grouping, GroupsThatAreOverMakeRoom) {
  Rules rules{config_with(failures_rule())};
  for (std::size_t i = 0; i < kMostGroups; ++i)
    rules.feed(event_of(EventKind::gave_up, "h" + std::to_string(i)), kStart);
  Instant now = kStart + 10s;
  for (; rules.next("ops", now); now += 6s) {
  }
  rules.tick(now + 300s);
  rules.feed(event_of(EventKind::gave_up, "new"), now + 301s);
  EXPECT_EQ(rules.next("ops", now + 311s)->handler, "new");
}

TEST(RateLimit, AChannelGetsALimitedNumberAMinuteAndWaitingMessagesKeepCounting) {
  AlertsConfig config = config_with(failures_rule());
  config.channels["ops"].per_minute = 2;
  Rules rules{config};
  for (const char* handler : {"a", "b", "c"}) rules.feed(event_of(EventKind::gave_up, handler), kStart);
  EXPECT_TRUE(rules.next("ops", kStart + 10s));
  EXPECT_TRUE(rules.next("ops", kStart + 15s));
  EXPECT_FALSE(rules.next("ops", kStart + 69s));
  EXPECT_EQ(rules.next_at("ops"), kStart + 70s);
  rules.feed(event_of(EventKind::gave_up, "c"), kStart + 30s);
  const auto third = rules.next("ops", kStart + 70s);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->handler, "c");
  EXPECT_EQ(third->count, 2U);
}

TEST(RateLimit, OneChannelsLimitIsNoOthers) {
  AlertRule rule = failures_rule();
  rule.channels = {"ops", "mail"};
  AlertsConfig config = config_with(rule);
  config.channels["ops"].per_minute = 1;
  Rules rules{config};
  rules.feed(event_of(EventKind::gave_up, "a"), kStart);
  rules.feed(event_of(EventKind::gave_up, "b"), kStart);
  EXPECT_TRUE(rules.next("ops", kStart + 10s));
  EXPECT_FALSE(rules.next("ops", kStart + 10s));
  EXPECT_TRUE(rules.next("mail", kStart + 10s));
  EXPECT_TRUE(rules.next("mail", kStart + 10s));
}

TEST(LastWords, WaitingMessagesAreSentAtOnceWhenTheServiceStops) {
  Rules rules{config_with(failures_rule())};
  rules.feed(event_of(EventKind::gave_up), kStart);
  EXPECT_FALSE(rules.next("ops", kStart + 1s));
  rules.skip_waits(kStart + 1s);
  EXPECT_TRUE(rules.next("ops", kStart + 1s));
}

}  // namespace
}  // namespace easyretry::alert
