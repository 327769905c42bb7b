// A daemon whose configuration is in Nacos.

#include <mutex>

#include <gtest/gtest.h>

#include "fake_nacos/fake_nacos.h"
#include "fault/child.h"
#include "server/daemon.h"
#include "support/eventually.h"
#include "support/temp_folder.h"

namespace easyretry::test {
namespace {

class ConfigFollower : public ::testing::Test {
 protected:
  std::string url() const {
    return "nacos://127.0.0.1/retry.yaml?grpc_port=" + std::to_string(nacos.address().grpc_port);
  }
  Config config() {
    Config config = load_config(url(), environment());
    config.engine.log = [this](LogLevel, std::string_view text) {
      const std::lock_guard lock{mutex};
      log.append(text).append("\n");
    };
    return config;
  }
  Environment environment() const {
    return {{"EASYRETRY_STORE", folder.sqlite_url()},
            {"EASYRETRY_SERVER_LISTEN", "127.0.0.1:0"},
            {"EASYRETRY_SERVER_TOKENS", (folder.path() / "tokens").string()}};
  }
  bool logged(const std::string& text) {
    return eventually([&] {
      const std::lock_guard lock{mutex};
      return log.find(text) != std::string::npos;
    });
  }

  FakeNacos nacos;
  TempFolder folder;
  std::mutex mutex;
  std::string log;  // guarded by mutex
};

TEST_F(ConfigFollower, AChangeInNacosReachesTheRunningDaemon) {
  nacos.set_config("retry.yaml", "window: 200ms\nhandlers: {pay: {max_attempts: 2}}");
  server::Daemon daemon{config()};
  daemon.follow(url(), environment());
  nacos.set_config("retry.yaml", "window: 300ms\nworkers: 9\nhandlers: {pay: {max_attempts: 7}}");
  EXPECT_TRUE(logged("configuration, handlers.pay.max_attempts: 2 -> 7\n"));
  EXPECT_TRUE(logged("configuration, window: 200ms -> 300ms\n"));
  EXPECT_TRUE(logged("configuration, workers: 8 -> 9 (needs a restart)\n"));
  nacos.set_config("retry.yaml", "workers: many");
  EXPECT_TRUE(logged("configuration not changed: ")) << "and it goes on with what it had";
  daemon.stop();
}

TEST_F(ConfigFollower, ServeDoesSoByItself) {
  const std::string tokens = "server: {tokens: " + (folder.path() / "tokens").string() + "}\n";
  nacos.set_config("retry.yaml", tokens + "workers: 3");
  fault::Child serve{"/bin/sh",
                     {"-c", "exec \"$0\" \"$@\" 2>&1", EASYRETRY_PROGRAM, "serve", "--config", url(), "--store",
                      folder.sqlite_url(), "--listen", "127.0.0.1:0"}};
  const auto says = [&](const std::string& text) {
    std::string line = serve.read_line();
    while (!line.empty() && line.find(text) == std::string::npos) line = serve.read_line();
    return !line.empty();
  };
  ASSERT_TRUE(says("easyretry serves http://127.0.0.1:"));
  nacos.set_config("retry.yaml", tokens + "workers: 4");
  EXPECT_TRUE(says("workers: 3 -> 4 (needs a restart)"));
}

}  // namespace
}  // namespace easyretry::test
