// A configuration in Nacos instead of a file.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/watch.h"
#include "fake_nacos/fake_nacos.h"
#include "support/eventually.h"

namespace easyretry::test {
namespace {

using ::testing::HasSubstr;

class ConfigInNacos : public ::testing::Test {
 protected:
  std::string url(const std::string& options = "") const {
    return "nacos://127.0.0.1/retry.yaml?grpc_port=" + std::to_string(server.address().grpc_port) + options;
  }
  static LogSink quiet() {
    return [](LogLevel, std::string_view) {};
  }
  // The result of the next step that has one.
  static tl::expected<Config, ConfigError> news(ConfigWatch& watch) {
    std::optional<tl::expected<Config, ConfigError>> heard;
    eventually([&] { return (heard = watch.step()).has_value(); });
    if (!heard) return tl::make_unexpected(ConfigError({"no news"}));
    return *heard;
  }

  FakeNacos server;
};

TEST_F(ConfigInNacos, IsReadLikeAFileWithTheEnvironmentOverIt) {
  server.set_config("retry.yaml", "workers: 3\nlease: 9s");
  const Config config = load_config(url(), {{"EASYRETRY_WORKERS", "5"}});
  EXPECT_EQ(config.engine.workers, 5);
  EXPECT_EQ(config.engine.lease, std::chrono::seconds{9});
}

TEST_F(ConfigInNacos, ThatIsInvalidIsReportedWithItsNameAndPosition) {
  server.set_config("retry.yaml", "workerz: 3");
  try {
    load_config(url(), {});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("retry.yaml:1:1: workerz: unknown key"));
  }
}

TEST_F(ConfigInNacos, NamesNoProgramThatThisMachineWouldRun) {
  for (const std::string options : {"?password_command=/bin/sh%20x", "?shards=8&password_command=/bin/sh%20x"}) {
    server.set_config("retry.yaml", "store: postgres://app@db/retry" + options);
    try {
      load_config(url(), {});
      ADD_FAILURE() << options;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr("retry.yaml: store: password_command lets everyone"));
    }
  }
  server.set_config("retry.yaml", "workers: 3");
  const std::string mine = "postgres://app@db/retry?password_command=/bin/token";
  EXPECT_EQ(load_config(url(), {{"EASYRETRY_STORE", mine}}).store, mine);
}

TEST_F(ConfigInNacos, ThatIsMissingIsReportedWithARemedy) {
  try {
    load_config(url("&group=shop"), {});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("retry.yaml: is not in Nacos; publish it in the group shop"));
  }
}

TEST_F(ConfigInNacos, IsFollowedThroughChangesMistakesAndItsRemoval) {
  server.set_config("retry.yaml", "workers: 3");
  ConfigWatch watch{url(), {}, quiet()};
  EXPECT_EQ(watch.current().engine.workers, 3);
  EXPECT_FALSE(watch.waits_for());
  server.set_config("retry.yaml", "workers: 4");
  EXPECT_EQ(news(watch).value().engine.workers, 4);
  server.set_config("retry.yaml", "workers: many");
  EXPECT_THAT(news(watch).error().what(), HasSubstr("retry.yaml:1:10"));
  server.remove_config("retry.yaml");
  EXPECT_THAT(news(watch).error().what(), HasSubstr("is not in Nacos"));
  EXPECT_EQ(watch.current().engine.workers, 4) << "the last valid one";
}

TEST_F(ConfigInNacos, IsWaitedForWhileNacosIsAway) {
  server.stop();
  ConfigWatch watch{url(), {{"EASYRETRY_WORKERS", "5"}}, quiet()};
  ASSERT_TRUE(watch.waits_for());
  EXPECT_THAT(*watch.waits_for(), HasSubstr("check address, user and password"));
  EXPECT_EQ(watch.current().engine.workers, 5);
  EXPECT_FALSE(watch.step());
  server.set_config("retry.yaml", "lease: 9s");
  server.start();
  EXPECT_EQ(news(watch).value().engine.lease, std::chrono::seconds{9});
  EXPECT_FALSE(watch.waits_for());
}

}  // namespace
}  // namespace easyretry::test
