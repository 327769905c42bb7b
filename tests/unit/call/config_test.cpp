// An engine that is configured by a file.

#include <fstream>
#include <thread>

#include "support/temp_folder.h"
#include "unit/call/support.h"

namespace easyretry::test {
namespace {

using ::testing::Contains;

Config config(const std::string& yaml) {
  Config config = parse_config("store: 'memory:'\n" + yaml);
  config.engine.log = nullptr;
  return config;
}

struct Configured : ::testing::Test {
  int calls = 0;
  auto busy() {
    return [this](int) {
      ++calls;
      throw Busy("busy");
    };
  }
};

TEST_F(Configured, AHandlersEntryWinsOverItsCodeAndItsCodeOverTheDefaults) {
  ManualEngine engine{config(R"(
defaults: {max_attempts: 2, backoff: fixed delay=1s}
handlers:
  entry: {max_attempts: 4}
)")};
  const auto attempts = [&](auto handle) {
    calls = 0;
    handle.submit(1);
    engine.drain();
    return calls;
  };
  EXPECT_EQ(attempts(engine.retryable("plain", busy())), 2);
  EXPECT_EQ(attempts(engine.retryable("code", busy(), Policy{.backoff = Fixed{1s}, .stop = {.max_attempts = 3}})), 3);
  EXPECT_EQ(attempts(engine.retryable("entry", busy(), Policy{.backoff = Fixed{1s}, .stop = {.max_attempts = 3}})), 4);
}

TEST_F(Configured, StrategiesAndExceptionListsComeFromTheFileByName) {
  ManualEngine engine{config(R"(
defaults: {persist: never}
handlers:
  pay: {persist: retry_only, never_retry: [Busy]}
)"),
                      ExceptionNames{type<Busy>()}};
  auto pay = engine.retryable("pay", busy());
  EXPECT_THROW(static_cast<void>(pay(1)), Busy);
  EXPECT_EQ(engine.stats().stored, 0U);
  EXPECT_EQ(calls, 1) << "neither stored nor retried in memory";
}

TEST_F(Configured, ANameThatNobodyGaveIsRefusedWhereTheHandlerIsRegistered) {
  ManualEngine engine{config("handlers: {pay: {retry_on: [Bsuy]}}"), ExceptionNames{type<Busy>()}};
  try {
    engine.retryable("pay", busy());
    FAIL() << "it was accepted";
  } catch (const ConfigError& e) {
    EXPECT_THAT(e.what(), HasSubstr("Busy"));
  }
}

TEST_F(Configured, AReloadChangesPoliciesAndLimitsAndSaysWhatNeedsARestart) {
  ManualEngine engine{config("handlers: {pay: {max_attempts: 2, backoff: fixed delay=1s}}")};
  auto pay = engine.retryable("pay", busy());
  const auto changes = engine.reload(
      config("workers: 99\nmax_payload: 20\nhandlers: {pay: {max_attempts: 4, backoff: fixed delay=1s}}"));
  EXPECT_THAT(changes, Contains(ConfigChange{"handlers.pay.max_attempts", "2", "4", true}));
  EXPECT_THAT(changes, Contains(ConfigChange{"workers", "8", "99", false}));
  pay.submit(1);
  engine.drain();
  EXPECT_EQ(calls, 4);
  auto note = engine.retryable("note", [](const std::string&) {});
  EXPECT_THROW(note.submit(std::string(100, 'x')), std::invalid_argument);
}

TEST_F(Configured, AReloadThatCannotWorkChangesNothing) {
  ManualEngine engine{config("handlers: {pay: {max_attempts: 2, backoff: fixed delay=1s}}")};
  auto pay = engine.retryable("pay", busy());
  EXPECT_THROW(engine.reload(config("handlers: {pay: {max_attempts: 4, retry_on: [Nobody]}}")), ConfigError);
  pay.submit(1);
  engine.drain();
  EXPECT_EQ(calls, 2);
}

TEST_F(Configured, ARegistrationThatWasRefusedIsForgottenByReloads) {
  ManualEngine engine{config("")};
  auto pay = engine.retryable("pay", busy(), Policy{.backoff = Fixed{1s}, .stop = {.max_attempts = 2}});
  EXPECT_THROW(engine.retryable("pay", busy(), Policy{.stop = {.max_attempts = 9}}), std::invalid_argument);
  EXPECT_THROW(engine.retryable("other", busy(), Policy{.stop = {.max_attempts = -1}}), std::invalid_argument);
  EXPECT_NO_THROW(engine.reload(config("max_payload: 1000")));
  pay.submit(1);
  engine.drain();
  EXPECT_EQ(calls, 2);
}

TEST_F(Configured, AFollowedFileIsReloadedAndOneThatIsWrongIsLeftAside) {
  TempFolder folder;
  const auto file = folder.path() / "easyretry.yaml";
  const auto write = [&](const std::string& yaml) { std::ofstream{file} << "store: 'memory:'\n" << yaml; };
  write("handlers: {pay: {max_payload_typo: 1}}");
  write("max_payload: 1000\n");
  std::mutex mutex;
  std::string log;
  Config first = load_config(file, {});
  first.engine.log = [&](LogLevel, std::string_view text) {
    const std::lock_guard lock{mutex};
    log.append(text).append("\n");
  };
  Engine engine{first};
  auto note = engine.retryable("note", [](const std::string&) {});
  engine.follow(file);
  const auto wait_for = [&](const std::string& text) {
    for (int i = 0; i < 1000; ++i) {
      {
        const std::lock_guard lock{mutex};
        if (log.find(text) != std::string::npos) return true;
      }
      std::this_thread::sleep_for(10ms);
    }
    return false;
  };
  write("max_paylod: 20\n");
  EXPECT_TRUE(wait_for("configuration left as it was"));
  EXPECT_NO_THROW(note.submit(std::string(100, 'x')));
  write("max_payload: 20\n");
  EXPECT_TRUE(wait_for("configuration, max_payload: 1000 -> 20"));
  EXPECT_THROW(note.submit(std::string(100, 'y')), std::invalid_argument);
}

}  // namespace
}  // namespace easyretry::test
