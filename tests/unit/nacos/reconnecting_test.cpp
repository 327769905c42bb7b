// Connections that break or hang: everything is sent again on the next one.

#include <gtest/gtest.h>

#include "unit/nacos/client_fixture.h"

namespace easyretry::test {
namespace {

using nacos::NamingClient;
using nacos::ServiceView;

const nacos::Instance kReturning{.ip = "10.0.0.1", .port = 7070};

class Reconnecting : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(client.register_instance({"orders"}, kReturning));
    ASSERT_TRUE(eventually([&] { return addresses(told) == "10.0.0.1:7070"; }));
  }

  // A new connection with the registration and the subscription.
  bool all_is_back() {
    return eventually([&] {
      const auto view = told.last();
      return view && view->connection == 2 && addresses(told) == "10.0.0.1:7070" && server.clients() == 1;
    });
  }

  FakeNacos server;
  Recorder<ServiceView> told;
  NamingClient client{options_for({&server})};
  nacos::Subscription subscription = client.subscribe({"orders"}, told.listener());
};

TEST_F(Reconnecting, FollowsTheEndOfTheStream) {
  server.end_streams();
  EXPECT_TRUE(all_is_back());
  const auto setups = server.seen("ConnectionSetupRequest");
  ASSERT_EQ(setups.size(), 2U);
  EXPECT_NE(setups[0].peer, setups[1].peer);
}

TEST_F(Reconnecting, FollowsARestartOfTheServer) {
  server.stop();
  server.start();
  EXPECT_TRUE(all_is_back());
}

TEST_F(Reconnecting, FollowsAnAnswerThatTheConnectionIsUnknown) {
  server.forget_clients();
  EXPECT_TRUE(all_is_back());
}

TEST_F(Reconnecting, FollowsAnAnswerThatTheClientIsUnknownToNaming) {
  server.answer_with("ServiceQueryRequest", -401);
  EXPECT_FALSE(client.query({"orders"}));
  EXPECT_TRUE(all_is_back());
}

TEST_F(Reconnecting, RegistersBeforeItSubscribesSoThatTheFirstListHasUs) {
  const std::size_t before = told.count();
  server.end_streams();
  ASSERT_TRUE(all_is_back());
  EXPECT_EQ(told.all()[before].connection, 2U);
  EXPECT_EQ(told.all()[before].instances.size(), 1U);
}

TEST_F(Reconnecting, DoesNotRegisterAWithdrawnInstanceAgain) {
  ASSERT_TRUE(client.deregister_instance({"orders"}));
  server.end_streams();
  ASSERT_TRUE(eventually([&] { return told.last()->connection == 2; }));
  EXPECT_TRUE(server.instances("orders").empty());
  EXPECT_EQ(server.count("InstanceRequest"), 2U);
}

TEST(SilentServer, IsAskedAndLeftForAnother) {
  FakeNacos silent;
  FakeNacos other;
  other.stop();
  auto options = options_for({&silent, &other});
  options.timings.request = Millis{30};
  const NamingClient client{options};
  ASSERT_TRUE(eventually([&] { return silent.clients() == 1; }));
  other.start();
  silent.ignore("HealthCheckRequest", 1000);
  EXPECT_TRUE(eventually([&] { return other.clients() == 1; }));
  EXPECT_TRUE(eventually([&] { return silent.clients() == 0; })) << "the old connection is not closed";
}

TEST(SilentServer, MayMissOneHealthCheck) {
  FakeNacos server;
  auto options = options_for({&server});
  options.timings.request = Millis{100};
  const NamingClient client{options};
  ASSERT_TRUE(eventually([&] { return running(client); }));
  server.ignore("HealthCheckRequest", 1);
  const std::size_t asked = server.count("HealthCheckRequest");
  ASSERT_TRUE(eventually([&] { return server.count("HealthCheckRequest") >= asked + 3; }));
  EXPECT_EQ(client.status().connection, 1U);
}

TEST(SilentServer, IsAskedAtOnceWhenACallGetsNoAnswer) {
  FakeNacos server;
  auto options = options_for({&server});
  options.timings.idle = Millis{3600'000};
  options.timings.request = Millis{50};
  NamingClient client{options};
  ASSERT_TRUE(eventually([&] { return running(client); }));
  server.ignore("ServiceQueryRequest", 1);
  EXPECT_FALSE(client.query({"orders"}));
  EXPECT_TRUE(eventually([&] { return server.count("HealthCheckRequest") == 1; }));
}

// A change that times out takes 3 s, and there may be hundreds of them.
TEST(SilentServer, IsLeftBeforeEveryChangeHasTimedOut) {
  FakeNacos server;
  server.stop();
  auto options = options_for({&server});
  options.timings.request = Millis{30};
  options.timings.idle = options.timings.redo = Millis{3600'000};
  NamingClient client{options};
  std::vector<nacos::Subscription> subscriptions;
  for (int i = 0; i < 100; ++i) {
    subscriptions.push_back(client.subscribe({"orders-" + std::to_string(i)}, [](const ServiceView&) {}));
  }
  server.ignore("SubscribeServiceRequest", 1000);
  server.ignore("HealthCheckRequest", 1000);
  server.start();
  ASSERT_TRUE(eventually([&] { return client.status().connection == 2; }));
  EXPECT_LT(server.count("SubscribeServiceRequest"), 10U);
}

class Moving : public testing::Test {
 protected:
  // Connected to `from`, whichever server was first. The next in turn would be `third`.
  void SetUp() override {
    third.stop();
    to.stop();
    auto options = options_for({&from, &third, &to});
    options.timings.idle = Millis{3600'000};
    client.emplace(options);
    ASSERT_TRUE(client->register_instance({"orders"}, kReturning));
    third.start();
    to.start();
  }

  FakeNacos from;
  FakeNacos third{{.ip = "127.0.0.3"}};
  FakeNacos to{{.ip = "127.0.0.2"}};
  std::optional<NamingClient> client;
};

TEST_F(Moving, GoesToTheServerThatIsNamedAndTakesItsRegistrationAlong) {
  from.send("ConnectResetRequest", R"({"serverIp":"127.0.0.2","serverPort":"8848"})");
  EXPECT_TRUE(eventually([&] { return to.instances("orders").size() == 1; }));
  EXPECT_TRUE(eventually([&] { return from.clients() == 0; }));
  EXPECT_EQ(from.count("ConnectResetResponse"), 1U);
}

TEST_F(Moving, KeepsTheOldConnectionWhileThereIsNoOther) {
  to.stop();
  third.stop();
  from.be_starting(true);
  from.send("ConnectResetRequest", R"({"serverIp":"127.0.0.2","serverPort":"8848"})");
  ASSERT_TRUE(eventually([&] { return from.count("ServerCheckRequest") == 2; }));
  EXPECT_TRUE(client->query({"orders"}));
  EXPECT_EQ(from.instances("orders").size(), 1U);
}

TEST_F(Moving, StaysInItsListOfServers) {
  from.send("ConnectResetRequest", R"({"serverIp":"192.0.2.1","serverPort":"8848"})");
  EXPECT_TRUE(eventually([&] { return client->status().connection == 2; }));
  EXPECT_TRUE(eventually([&] {
    return from.instances("orders").size() + third.instances("orders").size() + to.instances("orders").size() == 1;
  }));
}

TEST_F(Moving, NeedsNoName) {
  from.send("ConnectResetRequest", "{}");
  EXPECT_TRUE(eventually([&] { return client->status().connection == 2; }));
}

TEST(Answering, ADetectionProvesThatWeLive) {
  FakeNacos server;
  const NamingClient client{options_for({&server})};
  ASSERT_TRUE(eventually([&] { return running(client); }));
  server.send("ClientDetectionRequest", R"({"requestId":"d-1"})");
  ASSERT_TRUE(eventually([&] { return server.count("ClientDetectionResponse") == 1; }));
  EXPECT_EQ(server.seen("ClientDetectionResponse").front().body,
            R"({"errorCode":0,"requestId":"d-1","resultCode":200})");
}

TEST(Answering, AnUnknownOrUnreadableMessageGetsAnErrorAndTheStreamStays) {
  FakeNacos server;
  const NamingClient client{options_for({&server})};
  ASSERT_TRUE(eventually([&] { return running(client); }));
  server.send("OrderPizzaRequest", R"({"requestId":"p-1"})");
  server.send("NotifySubscriberRequest", R"({"requestId":"p-2","serviceInfo":[]})");
  server.send("ClientDetectionRequest", "{}");
  ASSERT_TRUE(eventually([&] { return server.count("ClientDetectionResponse") == 1; }));
  const auto errors = server.seen("ErrorResponse");
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors.front().body, R"({"errorCode":-500,"requestId":"p-1","resultCode":500})");
  EXPECT_EQ(client.status().connection, 1U);
}

}  // namespace
}  // namespace easyretry::test
