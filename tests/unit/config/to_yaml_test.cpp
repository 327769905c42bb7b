#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "config/masked_url.h"
#include "config/values.h"
#include "unit/config/support.h"

namespace easyretry::config {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

TEST(ConfigToYaml, WritesTheEngineInFullAndTheConfiguredHandlers) {
  EXPECT_EQ(to_yaml(parse_config(kExample)), R"(store: sqlite:retry.db
namespace: payments
workers: 16
window: 5s
poll: 500ms
grace: 30s
membership: store
assignment: stride
at_start: alone
lease: 30s
batch: 2000
read_ahead: 200000
max_crashes: 3
max_payload: 1048576
drain: 20s
encryption:
  folder: ""
  current: ""
  identity_key: ""
  require: false
defaults:
  persist: retry_only
  backoff: exponential first=1s factor=2 cap=15m jitter=1s
  max_attempts: 16
  never_retry: [std::invalid_argument]
handlers:
  payment.pay:
    max_attempts: 5
    max_duration: 1h
    success_when: result.code == 200
    concurrency: 4
    timeout: 10s
server:
  listen: 127.0.0.1:7077
  certificate: ""
  private_key: ""
  tokens: easyretry.tokens
  audit: ""
  requests_per_second: 0
  hosts: []
  namespaces: []
  may_call: []
  allow_plain_http: false
  dashboard: true
)");
}

TEST(ConfigToYaml, ShowsNoPassword) {
  EXPECT_THAT(to_yaml(parse_config("store: mysql://app:geheim@db/retry")),
              testing::StartsWith("store: \"mysql://app:***@db/retry\"\n"));
  EXPECT_THAT(to_yaml(parse_config("membership: nacos://app:geheim@reg/retry")),
              testing::HasSubstr("membership: \"nacos://app:***@reg/retry\"\n"));
}

TEST(ConfigToYaml, ShowsOfAWebhookWhereItIsAndNotHowItIsCalled) {
  const std::string text =
      to_yaml(parse_config("defaults: {url: 'https://a.example/geheim', secrets_file: s}\n"
                           "handlers: {pay: {url: 'https://b.example/hook?code=geheim'}}"));
  EXPECT_THAT(text, testing::HasSubstr("url: https://a.example/***\n"));
  EXPECT_THAT(text, testing::HasSubstr("url: https://b.example/***\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("geheim")));
}

TEST(ConfigToYaml, ReadsBackEqualWhereItIsEmpty) {
  EXPECT_THAT(compare(Config{}, parse_config(to_yaml(Config{}))), IsEmpty());
}

template <class T>
rc::Gen<std::optional<T>> maybe(rc::Gen<T> gen) {
  return rc::gen::map(rc::gen::maybe(std::move(gen)),
                      [](rc::Maybe<T> value) { return value ? std::optional<T>{*value} : std::nullopt; });
}

rc::Gen<Millis> any_duration() {
  return rc::gen::map(rc::gen::inRange<std::int64_t>(0, 100'000'000), [](std::int64_t ms) { return Millis{ms}; });
}

// With every character that has a meaning in YAML.
rc::Gen<std::string> any_text() {
  return rc::gen::suchThat(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string{"ab7 :#'\"\\-?&*!|>%@`{}[],~=./\n\t"})),
      [](const std::string& text) { return !text.empty() && text.size() <= 60; });
}

rc::Gen<std::string> any_name() {
  return rc::gen::element<std::string>("std::exception", "bank::Error<int, 2>", "{anonymous}::Bad", "a b", "null", "~",
                                       "ä");
}

HandlerConfig any_handler() {
  HandlerConfig handler;
  handler.persist = *maybe(rc::gen::element(Persist::retry_only, Persist::always, Persist::manual, Persist::never));
  handler.policy.backoff =
      *maybe(rc::gen::element<Backoff>(Exponential{}, Fixed{.delay = 7s}, Ladder{5s, 30s}, EasyRetryClassic{}));
  handler.policy.max_attempts = *maybe(rc::gen::inRange(0, 1000));
  handler.policy.max_duration = *maybe(any_duration());
  const auto at = *maybe(any_duration());
  if (at) handler.policy.deadline = TimePoint{*at * 1000};
  const auto types = *maybe(rc::gen::container<std::vector<std::string>>(any_name()));
  if (types) {
    handler.policy.retry_on.emplace();
    for (const std::string& name : *types) handler.policy.retry_on->push_back({name});
  }
  handler.policy.success_when =
      *maybe(rc::gen::element<std::string>("", "result.code == 200", "result.state ~= \"CLOSED\" -- # : \n"));
  handler.concurrency = *maybe(rc::gen::inRange(0, 100));
  handler.timeout = *maybe(any_duration());
  const CircuitOptions named{.name = "a, b: {c}", .trip_at = 0.25, .window = 45s, .least = 7, .probes = 0.1};
  const CircuitOptions budgeted{.limit = {.running = 3}, .retries_at_most = 0.15};
  handler.limit = *maybe(rc::gen::element(LimitOptions{}, LimitOptions{.running = 0},
                                          LimitOptions{.running = 7, .per_second = 0.5, .burst = 9}));
  handler.circuit = *maybe(rc::gen::element(CircuitOptions{}, CircuitOptions{.trip_at = 1}, named, budgeted,
                                            CircuitOptions{.retries_at_most = 0}));
  handler.task_class = *maybe(rc::gen::element(TaskClass::normal, TaskClass::urgent, TaskClass::background));
  handler.keep = *maybe(rc::gen::element<Millis>(0s, 1s, 24h * 7));
  handler.keep_args = *maybe(rc::gen::element<Millis>(0s, 90s, 24h));
  return handler;
}

RC_GTEST_PROP(ConfigToYaml, ReadsBackEqual, ()) {
  Config config;
  config.store = "sqlite:" + *any_text();
  RC_PRE(masked_url(config.store) == config.store);
  config.shards = config.store.find('?') == std::string::npos ? *maybe(rc::gen::inRange(1, 4096)) : std::nullopt;
  config.engine.name_space = *any_text();
  config.engine.workers = *rc::gen::inRange(1, 4096);
  config.engine.drain = *rc::gen::suchThat(any_duration(), [](Millis d) { return d <= 24h; });
  config.encryption = {*any_text(), *any_text(), *any_text(), *rc::gen::arbitrary<bool>()};
  config.defaults = any_handler();
  config.handlers["payment.pay"] = any_handler();
  config.handlers[*any_text()] = any_handler();
  RC_LOG() << to_yaml(config);
  RC_ASSERT(compare(config, parse_config(to_yaml(config))).empty());
}

RC_GTEST_PROP(YamlWord, ReadsBackEqual, ()) {
  const std::string text = *any_text();
  RC_ASSERT(parse_config("namespace: " + yaml_word(text)).engine.name_space == text);
  RC_ASSERT(parse_config("{namespace: " + yaml_word(text) + "}").engine.name_space == text);
}

}  // namespace
}  // namespace easyretry::config
