// An engine configured by a file.

#include <fstream>
#include <mutex>

#include <easyretry/config.h>

#include "support/eventually.h"
#include "support/temp_folder.h"
#include "unit/call/support.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;
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

TEST_F(Configured, AHandlerKeepsItsEndedTasksAsItsEntryItsCodeOrTheDefaultsSay) {
  ManualEngine engine{config("defaults: {keep: none}\nhandlers:\n  entry: {keep: 7d}\n  gone: {keep: none}\n")};
  const auto stays = [&](auto handle) {
    const TaskId id = handle.submit(1);
    engine.drain();
    return engine.find(id).has_value();
  };
  const auto pay = [](int) {};
  EXPECT_FALSE(stays(engine.retryable("plain", pay)));
  EXPECT_TRUE(stays(engine.retryable("code", pay, Policy{}, HandlerOptions{.keep = 24h})));
  EXPECT_TRUE(stays(engine.retryable("entry", pay, Policy{}, HandlerOptions{.keep = 0s})));
  EXPECT_FALSE(stays(engine.retryable("gone", pay, Policy{}, HandlerOptions{.keep = 24h})));
  EXPECT_EQ(engine.counts()["plain"].total.ended_in_all(), 1);
}

// As options.h and docs/configuration.md say.
TEST_F(Configured, AZeroInCodeCountsAsNotSetAndOneInTheFileAsZero) {
  ManualEngine engine{config("defaults: {keep_results: 1h}\nhandlers:\n  entry: {keep_results: 0s}\n")};
  const auto has_result = [&](auto handle) {
    const TaskId id = handle.submit(1);
    engine.drain();
    return engine.wait(id, 0ms).result.has_value();
  };
  const auto pay = [](int order) { return order; };
  EXPECT_TRUE(has_result(engine.retryable("code", pay, Policy{}, HandlerOptions{.keep_results = 0s})));
  EXPECT_FALSE(has_result(engine.retryable("entry", pay, Policy{}, HandlerOptions{.keep_results = 0s})));
}

// Its is_success() always returns false.
struct Picky : RetryableTask<int(int)> {
  explicit Picky(int& counted) : calls(counted) {}
  int execute(const int&) override { return ++calls; }
  bool is_success(const int&) override { return false; }
  int& calls;
};

TEST_F(Configured, TheDefaultsHoldForEveryKindOfHandlerWithoutAPolicy) {
  ManualEngine engine{config("defaults: {max_attempts: 2, backoff: fixed delay=1s}")};
  const HandlerOptions options{.timeout = 10s};
  const auto attempts = [&](auto handle) {
    calls = 0;
    handle.submit(1);
    engine.drain();
    return calls;
  };
  struct Counter {
    int& calls;
    void count(int) { ++calls, throw Busy("busy"); }
  } counter{calls};
  EXPECT_EQ(attempts(engine.retryable("options", busy(), options)), 2);
  EXPECT_EQ(attempts(engine.retryable("opaque", opaque(busy()))), 2);
  EXPECT_EQ(attempts(engine.retryable("opaque options", opaque(busy()), options)), 2);
  EXPECT_EQ(attempts(engine.retryable("member", &Counter::count, &counter)), 2);
  EXPECT_EQ(attempts(engine.retryable("member options", &Counter::count, &counter, options)), 2);
  EXPECT_EQ(attempts(engine.retryable("opaque member", opaque(&Counter::count), &counter)), 2);
  EXPECT_EQ(attempts(engine.retryable("class", std::make_shared<Picky>(calls))), 2);
  EXPECT_EQ(attempts(engine.retryable("class options", std::make_shared<Picky>(calls), options)), 2);
}

TEST_F(Configured, TheDefaultsHoldForAllThatAPolicyInCodeLeavesOpen) {
  ManualEngine engine{config("defaults: {max_attempts: 2, backoff: fixed delay=7s, never_retry: [Closed]}"),
                      ExceptionNames{type<Closed>()}};
  auto patient = engine.retryable("patient", busy(), Policy{.stop = {.max_duration = 1h}});
  const TaskId id = patient.submit(1);
  engine.run_due();
  EXPECT_EQ(engine.find(id)->next_at - engine.clock().now(), 7s);
  engine.drain();
  EXPECT_EQ(calls, 2);

  auto closed = engine.retryable(
      "closed", [](int) { throw Closed("closed"); }, Policy{.never_retry = {type<Busy>()}});
  const TaskId rejected = closed.submit(1);
  engine.drain();
  EXPECT_EQ(engine.find(rejected)->outcome, Outcome::rejected) << "both lists count";
}

TEST_F(Configured, AReloadOfTheDefaultsReachesHandlersWithAPolicy) {
  ManualEngine engine{config("defaults: {max_attempts: 2, backoff: fixed delay=1s}")};
  auto pay = engine.retryable("pay", busy(), Policy{.backoff = Fixed{3s}});
  engine.reload(config("defaults: {max_attempts: 4, backoff: fixed delay=1s}"));
  const TaskId id = pay.submit(1);
  engine.run_due();
  EXPECT_EQ(engine.find(id)->next_at - engine.clock().now(), 3s) << "as in the code";
  engine.drain();
  EXPECT_EQ(calls, 4) << "as in the new defaults";
  engine.reload(config(""));
  pay.submit(2);
  engine.drain();
  EXPECT_EQ(calls, 4 + kDefaultMaxAttempts) << "as in the library";
}

TEST_F(Configured, KeysComeFromTheCodeOrFromTheConfigurationNotFromBoth) {
  Config both = config("encryption: {folder: /nowhere}");
  both.engine.encryption = {.current = "a", .keys = {EncryptionKey::from_hex("a", std::string(62, '7') + "01")}};
  try {
    const ManualEngine engine{both};
    FAIL() << "it was accepted";
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), HasSubstr("remove one of them"));
  }
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

TEST_F(Configured, AnUnknownExceptionNameIsRefusedWhenTheHandlerIsRegistered) {
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

TEST_F(Configured, HowTheStoreIsScannedChangesAtOnce) {
  ManualEngine engine{config("")};
  const auto changes = engine.reload(config("window: 20s\npoll: 1s\ngrace: 1min\nbatch: 50"));
  EXPECT_THAT(changes, Contains(ConfigChange{"window", "5s", "20s", true}));
  EXPECT_THAT(changes, Contains(ConfigChange{"poll", "500ms", "1s", true}));
  EXPECT_THAT(changes, Contains(ConfigChange{"grace", "30s", "1m", true}));
  EXPECT_THAT(changes, Contains(ConfigChange{"batch", "2000", "50", true}));
  EXPECT_TRUE(engine.reload(config("window: 20s\npoll: 1s\ngrace: 1min\nbatch: 50")).empty()) << "they are in force";
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

// Files that the engine watches, and what it logs about them.
class Followed : public Configured {
 protected:
  static void write(const std::filesystem::path& file, const std::string& yaml) {
    std::ofstream{file} << "store: 'memory:'\n" << yaml;
  }
  Config first() {
    Config config = load_config(file, {});
    config.engine.log = [this](LogLevel, std::string_view text) {
      const std::lock_guard lock{mutex_};
      log_.append(text).append("\n");
    };
    return config;
  }
  std::string log() const {
    const std::lock_guard lock{mutex_};
    return log_;
  }
  bool logged(const std::string& text) const {
    return eventually([&] { return log().find(text) != std::string::npos; });
  }

  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "easyretry.yaml";

 private:
  mutable std::mutex mutex_;
  std::string log_;  // guarded by mutex_
};

TEST_F(Followed, AFileIsReloadedAndOneThatIsWrongIsLeftAside) {
  write(file, "max_payload: 1000\n");
  Engine engine{first()};
  auto note = engine.retryable("note", [](const std::string&) {});
  engine.follow(file);
  write(file, "max_paylod: 20\n");
  EXPECT_TRUE(logged("configuration not changed"));
  EXPECT_NO_THROW(note.submit(std::string(100, 'x')));
  write(file, "max_payload: 20\n");
  EXPECT_TRUE(logged("configuration, max_payload: 1000 -> 20"));
  EXPECT_THROW(note.submit(std::string(100, 'y')), std::invalid_argument);
}

TEST_F(Followed, AnotherFileTakesThePlaceOfTheFirst) {
  const auto other = folder.path() / "other.yaml";
  write(file, "max_payload: 1000\n");
  write(other, "max_payload: 500\n");
  Engine engine{first()};
  auto note = engine.retryable("note", [](const std::string&) {});
  engine.follow(file);
  engine.follow(other);
  EXPECT_THROW(note.submit(std::string(600, 'x')), std::invalid_argument) << "it takes effect at once";
  write(file, "max_payload: 2000\n");
  write(other, "max_payload: 400\n");
  EXPECT_TRUE(logged("configuration, max_payload: 500 -> 400"));
  write(other, "max_payload: 300\n");  // by then the first file would have been read, too
  EXPECT_TRUE(logged("configuration, max_payload: 400 -> 300")) << log();
  EXPECT_EQ(log().find("2000"), std::string::npos) << log();
}

}  // namespace
}  // namespace easyretry::test
