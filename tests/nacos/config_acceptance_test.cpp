// An engine that follows a configuration in a real Nacos.

#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/config.h>
#include <easyretry/easyretry.h>

#include "nacos/config_client.h"
#include "nacos/real_nacos.h"
#include "support/eventually.h"

namespace easyretry::test {
namespace {

using testing::HasSubstr;

class ConfigInRealNacos : public OnEachNacos {
 protected:
  std::string url(const std::string& who = "nacos:nacos") const {
    return "nacos://" + who + "@127.0.0.1:" + std::to_string(port) + "/" + key.data_id + "?group=shop";
  }
  void publish(const std::string& yaml) {
    const auto done = writer.publish(key, "store: 'memory:'\n" + yaml);
    ASSERT_TRUE(done) << to_string(done.error());
  }
  LogSink log() {
    return [this](LogLevel, std::string_view text) {
      const std::lock_guard lock{mutex};
      lines.append(text).append("\n");
    };
  }
  bool logged(const std::string& text) {
    return eventually([&] {
      const std::lock_guard lock{mutex};
      return lines.find(text) != lines.npos;
    });
  }

  const int port = shared_server(GetParam());
  const nacos::ConfigKey key{unique_name(), "shop"};
  nacos::ConfigClient writer{options_for(port)};
  std::mutex mutex;
  std::string lines;
};
ON_EACH_NACOS(ConfigInRealNacos);

TEST_P(ConfigInRealNacos, IsLoadedAndFollowed) {
  publish("max_payload: 1000\n");
  Config first;
  ASSERT_TRUE(eventually([&] {  // a published text is not readable everywhere at once
    try {
      first = load_config(url(), {});
      return true;
    } catch (const ConfigError&) {
      return false;
    }
  }));
  first.engine.log = log();
  Engine engine{first};
  auto note = engine.retryable("note", [](const std::string&) {});
  engine.follow(url());
  publish("max_paylod: 20\n");
  EXPECT_TRUE(logged("configuration not changed: " + key.data_id + ":2:1: max_paylod: unknown key"));
  EXPECT_NO_THROW(note.submit(std::string(100, 'x')));
  publish("max_payload: 20\n");
  EXPECT_TRUE(logged("configuration, max_payload: 1000 -> 20"));
  EXPECT_THROW(note.submit(std::string(100, 'y')), std::invalid_argument);
  ASSERT_TRUE(writer.remove(key));
  EXPECT_TRUE(logged("is not in Nacos"));
}

TEST_P(ConfigInRealNacos, IsRefusedToAWrongPasswordWithAClearError) {
  publish("max_payload: 1000\n");
  try {
    load_config(url("nacos:wrong"), {});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("refused the user nacos"));
    EXPECT_THAT(error.what(), HasSubstr("check address, user and password"));
  }
}

}  // namespace
}  // namespace easyretry::test
