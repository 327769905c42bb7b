#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "unit/config/support.h"

namespace easyretry::config {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

std::string refusal(const Environment& environment) {
  return problem_of("", environment);
}

TEST(ConfigEnvironment, WinsOverTheFile) {
  const Config config = parse_config("workers: 4\nnamespace: a\ndefaults: {max_attempts: 3}\n", "f",
                                     {{"EASYRETRY_WORKERS", "8"}, {"EASYRETRY_DEFAULTS_MAX_ATTEMPTS", "9"}});
  EXPECT_EQ(config.engine.workers, 8);
  EXPECT_EQ(config.engine.name_space, "a");
  EXPECT_EQ(config.defaults.policy.max_attempts, 9);
}

TEST(ConfigEnvironment, HasAVariableForEveryKeyThatIsNoList) {
  Config config;
  apply_environment(config, {{"EASYRETRY_STORE", "memory:"},
                             {"EASYRETRY_SHARDS", "8"},
                             {"EASYRETRY_NAMESPACE", "s"},
                             {"EASYRETRY_WINDOW", "3s"},
                             {"EASYRETRY_LEASE", "5s"},
                             {"EASYRETRY_READ_AHEAD", "7000"},
                             {"EASYRETRY_DEFAULTS_PERSIST", "always"},
                             {"EASYRETRY_DEFAULTS_BACKOFF", "fixed delay=7s"},
                             {"EASYRETRY_DEFAULTS_SUCCESS_WHEN", "result.code == 200"},
                             {"EASYRETRY_DEFAULTS_TIMEOUT", "9s"}});
  EXPECT_EQ(config.store_url(), "memory:?shards=8");
  EXPECT_EQ(config.engine.name_space, "s");
  EXPECT_EQ(config.engine.window, 3s);
  EXPECT_EQ(config.engine.lease, 5s);
  EXPECT_EQ(config.engine.read_ahead, 7000U);
  EXPECT_EQ(config.defaults.persist, Persist::always);
  EXPECT_EQ(config.defaults.policy.backoff, (Backoff{Fixed{.delay = 7s}}));
  EXPECT_EQ(config.defaults.policy.success_when, "result.code == 200");
  EXPECT_EQ(config.defaults.timeout, 9s);
}

TEST(ConfigEnvironment, SaysWhichVariableIsWrongAndHow) {
  EXPECT_EQ(refusal({{"EASYRETRY_WORKERS", "many"}}),
            "EASYRETRY_WORKERS: \"many\" is not a whole number; write a whole number from 1 to 4096");
  EXPECT_EQ(refusal({{"EASYRETRY_LEASE", "30"}}), "EASYRETRY_LEASE: 30 has no unit; write 30s for seconds");
  EXPECT_EQ(refusal({{"EASYRETRY_NAMESPACE", "\xFF"}}), "EASYRETRY_NAMESPACE: not UTF-8; set it to text in UTF-8");
}

TEST(ConfigEnvironment, AnUnknownVariableIsRefused) {
  EXPECT_EQ(refusal({{"EASYRETRY_WORKER", "8"}}),
            "EASYRETRY_WORKER: unknown variable, did you mean EASYRETRY_WORKERS?");
  EXPECT_EQ(refusal({{"EASYRETRY_DEFAULT_MAX_ATTEMPTS", "8"}}),
            "EASYRETRY_DEFAULT_MAX_ATTEMPTS: unknown variable, did you mean EASYRETRY_DEFAULTS_MAX_ATTEMPTS?");
  EXPECT_EQ(refusal({{"EASYRETRY_COLOUR", "red"}}),
            "EASYRETRY_COLOUR: unknown variable; unset it, or see docs/configuration.md for the known ones");
  EXPECT_EQ(refusal({{"EASYRETRY_HANDLERS_PAY_TIMEOUT", "8s"}}),
            "EASYRETRY_HANDLERS_PAY_TIMEOUT: handlers have no variables; set it under handlers in the file");
  EXPECT_EQ(refusal({{"EASYRETRY_DEFAULTS_RETRY_ON", "a"}}),
            "EASYRETRY_DEFAULTS_RETRY_ON: lists have no variables; set it in the file");
}

TEST(ConfigEnvironment, OtherVariablesAreIgnored) {
  EXPECT_EQ(refusal({{"PATH", "/bin"}, {"EASYRETRY", "x"}, {"MY_EASYRETRY_WORKERS", "x"}}), "accepted");
}

TEST(ConfigEnvironment, AnEmptyVariableIsNotSet) {
  EXPECT_EQ(refusal({{"EASYRETRY_WORKERS", ""}, {"EASYRETRY_COLOUR", ""}}), "accepted");
}

TEST(ConfigEnvironment, KubernetesMayAnnounceAServiceOfOurName) {
  EXPECT_EQ(refusal({{"EASYRETRY_SERVICE_HOST", "10.0.0.7"},
                     {"EASYRETRY_SERVICE_PORT", "80"},
                     {"EASYRETRY_SERVICE_PORT_HTTP", "80"},
                     {"EASYRETRY_PORT", "tcp://10.0.0.7:80"},
                     {"EASYRETRY_PORT_80_TCP", "tcp://10.0.0.7:80"},
                     {"EASYRETRY_PORT_80_TCP_PROTO", "tcp"},
                     {"EASYRETRY_PORT_80_TCP_PORT", "80"},
                     {"EASYRETRY_WEB_PORT_80_TCP_ADDR", "10.0.0.7"},
                     {"EASYRETRY_WEB_SERVICE_HOST", "10.0.0.7"}}),
            "accepted");
  EXPECT_THAT(refusal({{"EASYRETRY_PORT", "80"}}), StartsWith("EASYRETRY_PORT: unknown variable"));
}

TEST(ConfigEnvironment, ReportsAllProblemsAndChangesNothing) {
  Config config;
  try {
    apply_environment(config, {{"EASYRETRY_NAMESPACE", "b"}, {"EASYRETRY_WORKERS", "0"}, {"EASYRETRY_X", "1"}});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.problems(), SizeIs(2));
  }
  EXPECT_THAT(compare(Config{}, config), IsEmpty());
}

TEST(ConfigEnvironment, ShardsAreNotGivenTwice) {
  EXPECT_EQ(problem_of("store: sqlite:a.db?shards=4", {{"EASYRETRY_SHARDS", "8"}}),
            "EASYRETRY_SHARDS: shards is given here and in the url of store; keep one of them");
  EXPECT_EQ(problem_of("shards: 4", {{"EASYRETRY_STORE", "sqlite:a.db?shards=8"}}),
            "EASYRETRY_STORE: shards is given here and in the url of store; keep one of them");
  EXPECT_THAT(problems_of("store: sqlite:a.db?shards=4\nshards: 4", {{"EASYRETRY_WORKERS", "8"}}), SizeIs(1));
}

TEST(ConfigEnvironment, IsThatOfTheProcess) {
  setenv("EASYRETRY_WORKERS", "12", 1);
  setenv("EASYRETRYWORKERS", "13", 1);
  const Environment environment = easyretry_environment();
  unsetenv("EASYRETRY_WORKERS");
  unsetenv("EASYRETRYWORKERS");
  EXPECT_EQ(environment.at("EASYRETRY_WORKERS"), "12");
  for (const auto& [name, value] : environment) EXPECT_THAT(name, StartsWith("EASYRETRY_"));
}

}  // namespace
}  // namespace easyretry::config
