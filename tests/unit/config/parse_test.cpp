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
  EXPECT_EQ(config.engine.name_space, "payments");
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
      "{store: 'memory:', shards: 8, namespace: s, workers: 2, window: 3s, poll: 1s, grace: 4s,"
      " membership: 'static:2/8', assignment: even, at_start: wait, lease: 5s,"
      " batch: 6, read_ahead: 7000, max_crashes: 8, max_payload: 9, drain: 0s}");
  EXPECT_EQ(config.store, "memory:");
  EXPECT_EQ(config.shards, 8);
  EXPECT_EQ(config.engine.name_space, "s");
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
  EXPECT_EQ(config.engine.name_space, "payments");
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

TEST(Config, AClassHasOneOfThreeNames) {
  const Config config = parse_config("defaults: {class: background}\nhandlers: {pay: {class: urgent}}");
  EXPECT_EQ(config.defaults.task_class, TaskClass::background);
  EXPECT_EQ(config.handlers.at("pay").task_class, TaskClass::urgent);
  EXPECT_THROW(parse_config("defaults: {class: high}"), ConfigError);
  try {
    parse_config("defaults: {class: urgnt}");
  } catch (const ConfigError& e) {
    EXPECT_THAT(e.what(), HasSubstr("did you mean urgent?"));
    EXPECT_THAT(e.what(), HasSubstr("write one of urgent, normal, background"));
  }
}

TEST(Config, ACircuitIsOnOffOrAMap) {
  const auto circuit = [](const std::string& text) {
    return *parse_config("defaults: {circuit: " + text + "}").defaults.circuit;
  };
  EXPECT_EQ(circuit("on"), CircuitOptions{});
  EXPECT_EQ(circuit("off").trip_at, 1);
  EXPECT_EQ(circuit("{name: gateway, trip_at: 25 %, window: 30s, least: 5, probes: 0.5/s}"),
            (CircuitOptions{.name = "gateway", .trip_at = 0.25, .window = 30s, .least = 5, .probes = 0.5}));
  EXPECT_EQ(circuit("{trip_at: 0.9}"), (CircuitOptions{.trip_at = 0.9}));
  EXPECT_EQ(circuit("{retries_at_most: 20 %}"), (CircuitOptions{.retries_at_most = 0.2}));
  EXPECT_EQ(circuit("{retries_at_most: 0}"), (CircuitOptions{.retries_at_most = 0}));
}

TEST(Config, ALimitIsOffOrAMap) {
  const auto limit = [](const std::string& text) {
    return *parse_config("defaults: {limit: " + text + "}").defaults.limit;
  };
  EXPECT_EQ(limit("off"), LimitOptions{});
  EXPECT_EQ(limit("{running: 5}"), (LimitOptions{.running = 5}));
  EXPECT_EQ(limit("{per_second: 0.5, burst: 3}"), (LimitOptions{.per_second = 0.5, .burst = 3}));
  EXPECT_EQ(limit("running=5 per_second=2 burst=3"), (LimitOptions{.running = 5, .per_second = 2, .burst = 3}));
  EXPECT_EQ(limit("{running: 0, per_second: 10/s}"), (LimitOptions{.running = 0, .per_second = 10}));
  EXPECT_EQ(parse_config("defaults: {circuit: {name: gateway, limit: {running: 2}}}").defaults.circuit->limit,
            (LimitOptions{.running = 2}));
}

TEST(Config, ALimitThatIsWrittenWronglyIsRefusedWithTheFormToWrite) {
  const auto refused = [](const std::string& text) -> std::string {
    try {
      parse_config("defaults: {limit: " + text + "}");
    } catch (const ConfigError& e) {
      return e.what();
    }
    return "taken";
  };
  EXPECT_THAT(refused("5"), HasSubstr("{running: 5, per_second: 10, burst: 20}"));
  EXPECT_THAT(refused("running=many"), HasSubstr("0 to 1000000"));
  EXPECT_THAT(refused("\"\""), HasSubstr("nothing is limited"));
  EXPECT_THAT(refused("{}"), HasSubstr("nothing is limited"));
  EXPECT_THAT(refused("{runing: 5}"), HasSubstr("\"runing\" is unknown"));
  EXPECT_THAT(refused("{running: -1}"), HasSubstr("0 to 1000000"));
  EXPECT_THAT(refused("{running: 99999999}"), HasSubstr("0 to 1000000"));
  EXPECT_THAT(refused("{per_second: fast}"), HasSubstr("per_second is \"fast\""));
  EXPECT_THAT(refused("{per_second: 0}"), HasSubstr("to start nothing, use running = 0"));
  EXPECT_THAT(refused("{running: 5, burst: 10}"), HasSubstr("it is a part of per_second"));
}

TEST(Config, ACircuitThatIsWrittenWronglyIsRefusedWithTheFormToWrite) {
  const auto refused = [](const std::string& text) {
    try {
      parse_config("defaults: {circuit: " + text + "}");
      return std::string{"accepted"};
    } catch (const ConfigError& e) {
      return std::string{e.what()};
    }
  };
  EXPECT_THAT(refused("maybe"), HasSubstr("write on, off, or {name: gateway, trip_at: 50 %"));
  EXPECT_THAT(refused("{trip_at: half}"), HasSubstr("trip_at is \"half\""));
  EXPECT_THAT(refused("{trip_at: 150 %}"), HasSubstr("above 0 and up to 1"));
  EXPECT_THAT(refused("{retries_at_most: few}"), HasSubstr("retries_at_most is \"few\""));
  EXPECT_THAT(refused("{retries_at_most: 100 %}"), HasSubstr("from 0 to below 1, such as 0.2"));
  EXPECT_THAT(refused("{probes: 0}"), HasSubstr("circuit.probes"));
  EXPECT_THAT(refused("{window: 2h}"), HasSubstr("1s to 1m"));
  EXPECT_THAT(refused("{least: -1}"), HasSubstr("whole number"));
  EXPECT_THAT(refused("{colour: red}"), HasSubstr("\"colour\" is unknown"));
  EXPECT_THAT(refused("[on]"), HasSubstr("write on, off"));
}

}  // namespace
}  // namespace easyretry::config
