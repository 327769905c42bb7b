#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/keys.h"
#include "unit/config/support.h"

namespace easyretry::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<ConfigChange> changes(std::string_view running, std::string_view wanted) {
  return compare(parse_config(running), parse_config(wanted));
}

TEST(ConfigCompare, FindsNoneInTheSame) {
  EXPECT_THAT(changes(kExample, kExample), IsEmpty());
  EXPECT_THAT(changes("defaults: {backoff: exponential}", "defaults: {backoff: {kind: exponential, factor: 2}}"),
              IsEmpty());
  EXPECT_THAT(changes("handlers: {a: {}}", ""), IsEmpty());
}

TEST(ConfigCompare, SaysWhatChangedFromWhatToWhat) {
  EXPECT_THAT(changes("{workers: 4, drain: 20s, defaults: {timeout: 5s}, handlers: {a: {max_attempts: 5}}}",
                      "{workers: 8, drain: 1m, defaults: {retry_on: [b, c]}, handlers: {d: {persist: never}}}"),
              ElementsAre(ConfigChange{"workers", "4", "8", false}, ConfigChange{"drain", "20s", "1m", true},
                          ConfigChange{"defaults.retry_on", "", "[b, c]", true},
                          ConfigChange{"defaults.timeout", "5s", "", true},
                          ConfigChange{"handlers.a.max_attempts", "5", "", true},
                          ConfigChange{"handlers.d.persist", "", "never", true}));
}

TEST(ConfigCompare, TellsNoneFromEmpty) {
  EXPECT_THAT(changes("", "defaults: {retry_on: [], success_when: ''}"),
              ElementsAre(ConfigChange{"defaults.retry_on", "", "[]", true},
                          ConfigChange{"defaults.success_when", "", "\"\"", true}));
}

TEST(ConfigCompare, ShowsNoPasswordButNoticesAnother) {
  EXPECT_THAT(
      changes("store: mysql://app:old@db/retry", "store: mysql://app:new@db/retry"),
      ElementsAre(ConfigChange{"store", "\"mysql://app:***@db/retry\"", "\"mysql://app:***@db/retry\"", false}));
  EXPECT_THAT(
      changes("membership: nacos://app:old@reg/retry", "membership: nacos://app:new@reg/retry"),
      ElementsAre(ConfigChange{"membership", "\"nacos://app:***@reg/retry\"", "\"nacos://app:***@reg/retry\"", false}));
}

// The rule, independent of the table, so that a mistake in the table is noticed.
TEST(ConfigCompare, ShowsOfAWebhookWhereItIsAndNoticesAnotherPath) {
  const auto with = [](const std::string& url) { return parse_config("handlers: {pay: {url: '" + url + "'}}"); };
  EXPECT_THAT(compare(with("https://b.example/geheim?code=1"), with("https://b.example/geheim?code=2")),
              ElementsAre(ConfigChange{"handlers.pay.url", "https://b.example/***", "https://b.example/***", false}));
  EXPECT_THAT(compare(Config{}, with("https://b.example/geheim")),
              ElementsAre(ConfigChange{"handlers.pay.url", "", "https://b.example/***", false}));
}

TEST(ConfigCompare, ScansLimitsAndHandlersChangeWhileRunningTheRestWithARestart) {
  std::vector<std::string_view> live;
  for (const auto& key : engine_keys()) {
    if (key.takes_effect == TakesEffect::at_once) live.push_back(key.name);
  }
  EXPECT_THAT(live, ElementsAre("window", "poll", "grace", "batch", "max_crashes", "max_payload", "drain"));
  for (const auto& key : handler_keys()) {
    const bool where = key.name == "url" || key.name == "secrets_file";
    EXPECT_EQ(key.takes_effect, where ? TakesEffect::after_restart : TakesEffect::at_once) << key.name;
  }
}

}  // namespace
}  // namespace easyretry::config
