#include "nacos/config_client.h"

#include <gtest/gtest.h>

#include "unit/nacos/client_fixture.h"

namespace easyretry::test {
namespace {

using nacos::ConfigClient;
using Text = std::optional<std::string>;

class LiveConfiguration : public testing::Test {
 protected:
  FakeNacos server;
  Recorder<Text> told;
  ConfigClient client{options_for({&server})};
};

TEST_F(LiveConfiguration, IsReadWrittenAndRemoved) {
  EXPECT_EQ(client.get({"retry.yaml"}).value(), std::nullopt);
  ASSERT_TRUE(client.publish({"retry.yaml"}, "workers: 8"));
  EXPECT_EQ(client.get({"retry.yaml"}).value(), "workers: 8");
  ASSERT_TRUE(client.remove({"retry.yaml"}));
  EXPECT_EQ(client.get({"retry.yaml"}).value(), std::nullopt);
}

TEST_F(LiveConfiguration, OfTheDefaultNamespaceHasAnEmptyTenant) {
  auto options = options_for({&server});
  options.name_space = "public";
  ConfigClient by_name{options};
  ASSERT_TRUE(by_name.get({"retry.yaml", "shop"}));
  EXPECT_EQ(server.seen("ConfigQueryRequest").front().body, R"({"dataId":"retry.yaml","group":"shop","tenant":""})");
}

TEST_F(LiveConfiguration, IsNotTakenForMissingWhileAServerStarts) {
  ASSERT_TRUE(client.get({"retry.yaml"}));
  server.answer_with("ConfigQueryRequest", 300);  // as an ErrorResponse, whose 300 means something else
  const auto read = client.get({"retry.yaml"});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Errc::unavailable);
}

TEST_F(LiveConfiguration, TheFirstNotificationHasTheCurrentText) {
  server.set_config("retry.yaml", "workers: 8");
  const auto listening = client.listen({"retry.yaml"}, told.listener());
  EXPECT_TRUE(eventually([&] { return told.count() == 1; }));
  EXPECT_EQ(told.last(), Text{"workers: 8"});
}

TEST_F(LiveConfiguration, IsNotReadAgainWithoutAReason) {
  server.set_config("retry.yaml", "one");
  const auto listening = client.listen({"retry.yaml"}, told.listener());
  ASSERT_TRUE(eventually([&] { return server.count("ConfigBatchListenRequest") == 1; }));
  ASSERT_TRUE(client.get({"other"}));
  ASSERT_TRUE(client.get({"other"}));
  EXPECT_EQ(server.count("ConfigQueryRequest"), 3U) << "one by the listener, and ours";
}

TEST_F(LiveConfiguration, ToldFirstMayBeThatThereIsNothing) {
  const auto listening = client.listen({"retry.yaml"}, told.listener());
  ASSERT_TRUE(eventually([&] { return told.count() == 1; }));
  EXPECT_EQ(told.all().front(), std::nullopt);
}

TEST_F(LiveConfiguration, EachTextIsDeliveredOnce) {
  const auto listening = client.listen({"retry.yaml"}, told.listener());
  ASSERT_TRUE(eventually([&] { return told.count() == 1; }));
  std::vector<Text> expected{std::nullopt};
  for (const Text& text : {Text{"one"}, Text{"two"}, Text{}}) {
    if (text) {
      server.set_config("retry.yaml", *text);
    } else {
      ASSERT_TRUE(client.remove({"retry.yaml"}));
    }
    expected.push_back(text);
    ASSERT_TRUE(eventually([&] { return told.count() == expected.size(); }));
  }
  server.send("ConfigChangeNotifyRequest", R"({"dataId":"retry.yaml","group":"DEFAULT_GROUP"})");
  server.set_config("retry.yaml", "three");
  expected.push_back("three");
  ASSERT_TRUE(eventually([&] { return told.last() == Text{"three"}; }));
  EXPECT_EQ(told.all(), expected);
  // The first change may have happened before the server watched the text for us; then it sent no notification.
  EXPECT_TRUE(eventually([&] { return server.count("ConfigChangeNotifyResponse") >= 4; })) << "each is acknowledged";
}

TEST_F(LiveConfiguration, AChangeWithoutAConnectionIsNoticedOnTheNext) {
  const auto listening = client.listen({"retry.yaml"}, told.listener());
  ASSERT_TRUE(eventually([&] { return told.count() == 1; }));
  server.stop();
  server.set_config("retry.yaml", "one");
  server.start();
  ASSERT_TRUE(eventually([&] { return told.count() == 2; }));
  EXPECT_EQ(told.last(), Text{"one"});
}

TEST_F(LiveConfiguration, AChangeWhosePushWasLostIsNoticedByListeningAgain) {
  auto options = options_for({&server});
  options.timings.relisten = Millis{20};
  ConfigClient watchful{options};
  const auto listening = watchful.listen({"retry.yaml"}, told.listener());
  ASSERT_TRUE(eventually([&] { return told.count() == 1; }));
  server.hold_pushes(true);
  server.set_config("retry.yaml", "one");
  EXPECT_TRUE(eventually([&] { return told.last() == Text{"one"}; }));
}

TEST_F(LiveConfiguration, AFailureToReadIsTriedAgain) {
  server.set_config("retry.yaml", "one");
  server.answer_with("ConfigQueryRequest", 400, 2);  // being changed
  const auto listening = client.listen({"retry.yaml"}, told.listener());
  EXPECT_TRUE(eventually([&] { return told.last() == Text{"one"}; }));
  EXPECT_EQ(told.count(), 1U);
}

TEST_F(LiveConfiguration, ASecondListenerGetsTheKnownText) {
  server.set_config("retry.yaml", "one");
  const auto first = client.listen({"retry.yaml"}, [](const Text&) {});
  const auto second = client.listen({"retry.yaml"}, told.listener());
  EXPECT_TRUE(eventually([&] { return told.last() == Text{"one"}; }));
}

TEST_F(LiveConfiguration, TheServerIsNotifiedWhenListeningEnds) {
  auto listening = client.listen({"retry.yaml"}, told.listener());
  ASSERT_TRUE(eventually([&] { return told.count() == 1; }));
  listening.end();
  ASSERT_TRUE(eventually(
      [&] { return last_body(server, "ConfigBatchListenRequest").find(R"("listen":false)") != std::string::npos; }));
  server.set_config("retry.yaml", "one");
  ASSERT_EQ(client.get({"retry.yaml"}).value(), "one");
  EXPECT_EQ(told.count(), 1U);
}

}  // namespace
}  // namespace easyretry::test
