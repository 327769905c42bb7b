// The alerts of an engine in an application, with a real receiver. Their texts are tested in tests/unit/alert and
// tests/e2e/alerts_test.py.

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/config.h>
#include <easyretry/easyretry.h>

#include "support/eventually.h"
#include "support/temp_folder.h"
#include "unit/webhook/support.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct EngineAlerts : ::testing::Test {
  EngineAlerts() { std::ofstream{secret} << "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"; }

  Config config(const std::string& rule) const {
    Config config = parse_config(
        "store: 'memory:'\nserver: {may_call: [127.0.0.0/8]}\nalerts:\n  channels: {hook: {type: webhook, url: '" +
        receiver.url("/alerts") + "', secret_file: " + secret.string() + "}}\n  rules: {r: {channels: [hook], " + rule +
        "}}\n");
    config.engine.log = nullptr;
    return config;
  }
  bool heard(const std::string& text) const {
    return eventually([&] {
      for (const http::Request& request : receiver.requests()) {
        if (request.body.find(text) != std::string::npos) return true;
      }
      return false;
    });
  }

  TempFolder folder;
  const std::filesystem::path secret = folder.path() / "secret";
  webhook::HandlerServer receiver;
};

TEST_F(EngineAlerts, AFinalFailureIsSentToTheChannel) {
  Engine engine{config("final_failures: 1, wait: 0s")};
  auto pay = engine.retryable("payment.pay", [](int) { return give_up("the account is closed"); });
  engine.start();
  pay.submit(1);
  EXPECT_TRUE(heard("the account is closed"));
  const auto requests = receiver.requests();
  ASSERT_FALSE(requests.empty());
  EXPECT_EQ(requests.front().target.path, "/alerts");
  EXPECT_THAT(requests.front().body, HasSubstr(R"("handler":"payment.pay")"));
}

TEST_F(EngineAlerts, ABacklogThatGrowsOldIsSeenInTheStore) {
  Engine engine{config("backlog_age: 1s")};
  auto pay = engine.retryable("payment.pay", [](int) {});
  engine.pause("payment.pay", "the bank is closed");
  engine.start();
  pay.submit(1);
  EXPECT_TRUE(heard("backlog_age"));
}

TEST_F(EngineAlerts, AStoppingEngineSendsItsCounts) {
  {
    Engine engine{config("final_failures: 1, wait: 1h")};
    auto pay = engine.retryable("payment.pay", [](int) { return give_up("the account is closed"); });
    engine.start();
    const TaskId id = pay.submit(1);
    ASSERT_TRUE(eventually([&] { return engine.find(id)->outcome.has_value(); }));
    EXPECT_EQ(receiver.requests().size(), 0U);
  }
  EXPECT_EQ(receiver.requests().size(), 1U);
}

// The error of an engine with this configuration.
std::string refusal_of(const Config& config) {
  try {
    Engine engine{config};
    return "it was accepted";
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

TEST_F(EngineAlerts, AChannelThatCannotWorkIsRefusedWhereTheEngineIsMade) {
  Config wrong = config("final_failures: 1");
  wrong.alerts.channels.at("hook").secret_file = (folder.path() / "missing").string();
  EXPECT_THAT(refusal_of(wrong), HasSubstr("alerts.channels.hook: "));
}

TEST_F(EngineAlerts, AChannelToAnAddressThatMayNotBeCalledIsRefusedWhereTheEngineIsMade) {
  Config wrong = config("final_failures: 1");
  wrong.server.may_call.clear();
  EXPECT_THAT(refusal_of(wrong), AllOf(HasSubstr("alerts.channels.hook: 127.0.0.1 may not be called"),
                                       HasSubstr("add 127.0.0.1 to server.may_call")));
}

}  // namespace
}  // namespace easyretry::test
