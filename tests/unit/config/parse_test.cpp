#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_folder.h"
#include "unit/config/support.h"

namespace easyretry::config {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Config, ReadsTheExample) {
  const Config config = parse_config(kExample);
  EXPECT_EQ(config.store, "sqlite:retry.db");
  EXPECT_EQ(config.engine.space, "payments");
  EXPECT_EQ(config.engine.workers, 16);
  EXPECT_EQ(config.engine.window, 5s);
  EXPECT_EQ(config.engine.lease, 30s);
  EXPECT_EQ(config.defaults.persist, Persist::retry_only);
  EXPECT_EQ(config.defaults.policy.max_attempts, 16);
  EXPECT_EQ(config.defaults.policy.backoff, Backoff{Exponential{}});
  EXPECT_THAT(*config.defaults.policy.never_retry, ElementsAre(WrittenName{"std::invalid_argument"}));
  ASSERT_EQ(config.handlers.size(), 1U);
  const HandlerConfig& pay = config.handlers.at("payment.pay");
  EXPECT_EQ(pay.policy.max_attempts, 5);
  EXPECT_EQ(pay.policy.max_duration, 1h);
  EXPECT_EQ(pay.policy.success_when, "result.code == 200");
  EXPECT_EQ(pay.concurrency, 4);
  EXPECT_EQ(pay.timeout, 10s);
  EXPECT_FALSE(pay.persist);
}

TEST(Config, ReadsEveryKeyOfTheEngine) {
  const Config config = parse_config(
      "{store: 'memory:', shards: 8, space: s, workers: 2, window: 3s, poll: 1s, grace: 4s,"
      " membership: 'static:2/8', assignment: even, at_start: wait, lease: 5s,"
      " batch: 6, read_ahead: 7000, max_crashes: 8, max_payload: 9, drain: 0s}");
  EXPECT_EQ(config.store, "memory:");
  EXPECT_EQ(config.shards, 8);
  EXPECT_EQ(config.engine.space, "s");
  EXPECT_EQ(config.engine.workers, 2);
  EXPECT_EQ(config.engine.window, 3s);
  EXPECT_EQ(config.engine.poll, 1s);
  EXPECT_EQ(config.engine.grace, 4s);
  EXPECT_EQ(config.engine.membership, "static:2/8");
  EXPECT_EQ(config.engine.assignment, Assignment::even);
  EXPECT_EQ(config.engine.at_start, AtStart::wait);
  EXPECT_EQ(config.engine.lease, 5s);
  EXPECT_EQ(config.engine.batch, 6U);
  EXPECT_EQ(config.engine.read_ahead, 7000U);
  EXPECT_EQ(config.engine.max_crashes, 8);
  EXPECT_EQ(config.engine.max_payload, 9U);
  EXPECT_EQ(config.engine.drain, 0s);
}

TEST(Config, ReadsEveryKeyOfAHandler) {
  const HandlerConfig handler = parse_config(R"(handlers:
  h:
    persist: on_failure
    backoff: fixed delay=7s
    max_attempts: 0
    max_duration: 2d
    deadline: 2026-03-01T12:00:00Z
    retry_on: [bank::Timeout, Refused]
    never_retry: []
    success_when: ""
    concurrency: 3
    timeout: 500ms
)")
                                    .handlers.at("h");
  EXPECT_EQ(handler.persist, Persist::on_failure);
  EXPECT_EQ(handler.policy.backoff, (Backoff{Fixed{.delay = 7s}}));
  EXPECT_EQ(handler.policy.max_attempts, 0);
  EXPECT_EQ(handler.policy.max_duration, 48h);
  EXPECT_EQ(handler.policy.deadline, std::chrono::sys_days{std::chrono::year{2026} / 3 / 1} + 12h);
  EXPECT_THAT(*handler.policy.retry_on, ElementsAre(WrittenName{"bank::Timeout"}, WrittenName{"Refused"}));
  EXPECT_THAT(*handler.policy.never_retry, IsEmpty());
  EXPECT_EQ(handler.policy.success_when, "");
  EXPECT_EQ(handler.concurrency, 3);
  EXPECT_EQ(handler.timeout, 500ms);
}

TEST(Config, TakesEveryPersistStrategy) {
  using enum Persist;
  const std::pair<std::string, Persist> names[] = {
      {"retry_only", retry_only}, {"on_failure", on_failure}, {"always", always}, {"manual", manual}, {"never", never}};
  for (const auto& [name, persist] : names) {
    EXPECT_EQ(parse_config("defaults: {persist: " + name + "}").defaults.persist, persist);
  }
}

TEST(Config, SayingNothingMeansAllDefaults) {
  for (const char* yaml : {"", "\n", "# only a comment\n", "{}", "---\n", "defaults:\nhandlers:\n", "\xEF\xBB\xBF"}) {
    EXPECT_THAT(compare(Config{}, parse_config(yaml)), IsEmpty()) << yaml;
  }
}

TEST(Config, ABackoffMayBeAMap) {
  const auto backoff = [](const std::string& map) {
    return *parse_config("defaults: {backoff: " + map + "}").defaults.policy.backoff;
  };
  EXPECT_EQ(backoff("{kind: exponential, first: 2s, factor: 3, cap: 1h, jitter: full}"),
            (Backoff{Exponential{.first = 2s, .factor = 3, .cap = 1h, .jitter = Jitter::full()}}));
  EXPECT_EQ(backoff("{first: 5s, kind: linear}"), (Backoff{Linear{.first = 5s}}));
  EXPECT_EQ(backoff("{kind: ladder, steps: [5s, 30s]}"), (Backoff{Ladder{5s, 30s}}));
  EXPECT_EQ(backoff("{kind: classic}"), Backoff{EasyRetryClassic{}});
}

TEST(Config, ABackoffMapObeysTheRulesOfTheLine) {
  EXPECT_EQ(
      problem_of("defaults:\n  backoff: {first: 1s}\n"),
      "easyretry.yaml:2:12: defaults.backoff: kind is missing; write a line such as exponential first=1s cap=15m, "
      "or {kind: exponential, first: 1s}");
  EXPECT_THAT(problem_of("defaults: {backoff: {kind: fixed, dealy: 1s}}"),
              HasSubstr("unknown or repeated field \"dealy=1s\"; its fields are: delay jitter"));
  EXPECT_THAT(problem_of("defaults: {backoff: {kind: fixed, delay: 1s, delay: 2s}}"), HasSubstr("repeated field"));
  EXPECT_THAT(problem_of("defaults: {backoff: {kind: fixed, kind: linear}}"), HasSubstr("kind is given twice"));
  EXPECT_THAT(problem_of("defaults: {backoff: {kind: fixed, delay: 1s jitter=2s}}"),
              HasSubstr("\"1s jitter=2s\" is not a field's value"));
  EXPECT_THAT(problem_of("defaults: {backoff: {kind: fixed, delay: {a: 1}}}"), HasSubstr("found keys and values"));
  EXPECT_THAT(problem_of("defaults: {backoff: {kind: ladder, steps: []}}"), HasSubstr("steps="));
}

TEST(Config, ShardsGoIntoTheUrl) {
  EXPECT_EQ(parse_config("store: sqlite:a.db").store_url(), "sqlite:a.db");
  EXPECT_EQ(parse_config("{store: sqlite:a.db, shards: 8}").store_url(), "sqlite:a.db?shards=8");
  EXPECT_EQ(parse_config("store: sqlite:a.db?history=none\nshards: 8").store_url(),
            "sqlite:a.db?history=none&shards=8");
}

TEST(Config, IsLoadedFromAFileAndTheEnvironment) {
  const test::TempFolder folder;
  const auto file = folder.path() / "easyretry.yaml";
  std::ofstream{file} << kExample;
  const Config config = load_config(file, {{"EASYRETRY_WORKERS", "32"}});
  EXPECT_EQ(config.engine.workers, 32);
  EXPECT_EQ(config.engine.space, "payments");
}

TEST(Config, AFileThatCannotBeReadIsNamed) {
  const test::TempFolder folder;
  const auto problem = [](const std::filesystem::path& file) -> std::string {
    try {
      load_config(file, {});
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(problem(folder.path() / "none.yaml"),
            (folder.path() / "none.yaml").string() +
                ": cannot be read: No such file or directory; give the path of a YAML file");
  EXPECT_EQ(problem(folder.path()), folder.path().string() + ": is a folder; give the path of a YAML file");
  EXPECT_THAT(problem("/dev/zero"), HasSubstr("larger than 1 MiB"));
}

}  // namespace
}  // namespace easyretry::config
