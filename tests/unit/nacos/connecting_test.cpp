// How a client connects and reconnects. The naming client stands for both kinds.

#include <gtest/gtest.h>

#include "unit/nacos/client_fixture.h"

namespace easyretry::test {
namespace {

using nacos::NamingClient;
using nacos::ServiceView;

TEST(Connecting, IsDoneWhenTheServerHasConfirmed) {
  FakeNacos server;
  const NamingClient client{options_for({&server})};
  ASSERT_TRUE(eventually([&] { return running(client); }));
  EXPECT_EQ(server.count("ServerCheckRequest"), 1U);
  EXPECT_EQ(server.count("HealthCheckRequest"), 0U) << "it has asked instead of waiting for the confirmation";
  EXPECT_EQ(client.status().connection_id, server.seen("ServerCheckRequest").front().peer);
  EXPECT_EQ(client.status().connection, 1U);
}

TEST(Connecting, AsksAServerThatDoesNotConfirmUntilItKnowsTheConnection) {
  FakeNacos server{{.confirms = false}};
  server.answer_with("HealthCheckRequest", 301, 3);
  const NamingClient client{options_for({&server})};
  ASSERT_TRUE(eventually([&] { return running(client); }));
  EXPECT_GE(server.count("HealthCheckRequest"), 4U);
  EXPECT_EQ(server.count("ConnectionSetupRequest"), 1U);
}

TEST(Connecting, SaysWhoItIs) {
  FakeNacos server;
  auto options = options_for({&server});
  options.name_space = "blue";
  options.app = "shop";
  const NamingClient client{options};
  ASSERT_TRUE(eventually([&] { return running(client); }));
  EXPECT_EQ(server.seen("ConnectionSetupRequest").front().body,
            R"({"abilityTable":{},"clientVersion":"Nacos-CPP-Client:v1.0.0",)"
            R"("labels":{"AppName":"shop","module":"naming","source":"sdk"},"tenant":"blue"})");
}

TEST(Connecting, UsesOneTcpConnectionForItsStreamAndItsCalls) {
  FakeNacos server;
  NamingClient client{options_for({&server})};
  ASSERT_TRUE(client.register_instance({"orders"}, {.ip = "10.0.0.1", .port = 7070}));
  const auto setup = server.seen("ConnectionSetupRequest");
  EXPECT_EQ(server.seen("InstanceRequest").front().peer, setup.front().peer);
  EXPECT_EQ(setup.size(), 1U);
}

TEST(Connecting, TwoClientsInOneProcessAreTwoToTheServer) {
  FakeNacos server;
  NamingClient one{options_for({&server})};
  NamingClient two{options_for({&server})};
  ASSERT_TRUE(one.register_instance({"orders"}, {.ip = "10.0.0.1", .port = 7070}));
  ASSERT_TRUE(two.register_instance({"orders"}, {.ip = "10.0.0.2", .port = 7070}));
  EXPECT_EQ(server.clients(), 2U);
  EXPECT_EQ(server.instances("orders").size(), 2U);
}

TEST(Connecting, LeavesAServerThatIsStartingForAnother) {
  FakeNacos starting;
  FakeNacos ready;
  starting.be_starting(true);
  const NamingClient client{options_for({&starting, &ready})};
  ASSERT_TRUE(eventually([&] { return ready.clients() == 1; }));
  EXPECT_EQ(starting.clients(), 0U);
}

TEST(Connecting, LeavesAServerThatEndsTheStreamAtOnceForAnother) {
  FakeNacos full;
  FakeNacos ready;
  full.end_new_streams(true);
  const NamingClient client{options_for({&full, &ready})};
  EXPECT_TRUE(eventually([&] { return ready.clients() == 1; }));
}

TEST(Connecting, LeavesAServerThatNeverConfirmsForAnother) {
  FakeNacos mute;
  FakeNacos ready;
  mute.leave_unconfirmed(true);
  auto options = options_for({&mute, &ready});
  options.timings.setup = Millis{50};
  const NamingClient client{options};
  EXPECT_TRUE(eventually([&] { return ready.clients() == 1; }));
}

TEST(Connecting, LeavesAServerThatIsAwayForAnother) {
  FakeNacos away;
  FakeNacos ready;
  away.stop();
  const NamingClient client{options_for({&away, &ready})};
  EXPECT_TRUE(eventually([&] { return ready.clients() == 1; }));
}

TEST(Connecting, WaitsForAServerToComeBack) {
  FakeNacos server;
  server.stop();
  const NamingClient client{options_for({&server})};
  ASSERT_TRUE(eventually([&] { return client.status().last_trouble.has_value(); }));
  EXPECT_EQ(client.status().last_trouble->code, Errc::unavailable);
  server.start();
  EXPECT_TRUE(eventually([&] { return running(client); }));
}

TEST(Connecting, PausesAfterAConnectionThatEndedAtOnce) {
  FakeNacos server;
  server.end_new_streams(true);
  auto options = options_for({&server});
  options.timings.reconnect_step = options.timings.reconnect_most = Millis{3600'000};
  const NamingClient client{options};
  ASSERT_TRUE(eventually([&] { return client.status().last_trouble.has_value(); }));
  server.end_new_streams(false);
  NamingClient other{options};  // long enough for another attempt
  ASSERT_TRUE(other.register_instance({"orders"}, {.ip = "10.0.0.1", .port = 7070}));
  EXPECT_EQ(server.count("ServerCheckRequest"), 2U) << "one of each";
}

TEST(Connecting, IsDoneApartForNamingAndConfiguration) {
  FakeNacos server;  // it answers -401 on a connection for the other module
  NamingClient naming{options_for({&server})};
  nacos::ConfigClient config{options_for({&server})};
  EXPECT_TRUE(naming.query({"orders"}));
  EXPECT_TRUE(config.publish({"a"}, "1"));
  EXPECT_EQ(server.clients(), 2U);
}

// The timeouts are hours, so only a stop can end it: a test that hangs has failed.
TEST(Stopping, CutsShortAnAttemptThatGetsNoAnswer) {
  FakeNacos server;
  server.ignore("ServerCheckRequest", 1);
  auto options = options_for({&server});
  options.timings.request = Millis{3600'000};
  const NamingClient client{options};
  ASSERT_TRUE(eventually([&] { return server.count("ServerCheckRequest") == 1; }));
}

TEST(Stopping, CutsShortTheWaitForAConfirmation) {
  FakeNacos server;
  server.leave_unconfirmed(true);
  auto options = options_for({&server});
  options.timings.setup = Millis{3600'000};
  const NamingClient client{options};
  ASSERT_TRUE(eventually([&] { return server.count("ConnectionSetupRequest") == 1; }));
}

TEST(Stopping, CutsShortThePauseBetweenAttempts) {
  FakeNacos server;
  server.stop();
  auto options = options_for({&server});
  options.timings.reconnect_step = options.timings.reconnect_most = Millis{3600'000};
  const NamingClient client{options};
  ASSERT_TRUE(eventually([&] { return client.status().last_trouble.has_value(); }));
}

TEST(Stopping, TakesTheConnectionAlong) {
  FakeNacos server;
  {
    NamingClient client{options_for({&server})};
    ASSERT_TRUE(client.register_instance({"orders"}, {.ip = "10.0.0.1", .port = 7070}));
  }
  EXPECT_TRUE(eventually([&] { return server.clients() == 0; }));
}

TEST(WrongOptions, AreRefusedAtOnce) {
  EXPECT_THROW(NamingClient{nacos::ClientOptions{}}, std::invalid_argument) << "no server";
  FakeNacos server;
  auto options = options_for({&server});
  options.tls = nacos::TlsOptions{.ca_file = "/no/such/file"};
  EXPECT_THROW(NamingClient{options}, std::invalid_argument);
  options.tls = nacos::TlsOptions{.certificate_file = "/dev/null"};
  EXPECT_THROW(NamingClient{options}, std::invalid_argument) << "a certificate without its key";
  options.tls.reset();
  options.timings.idle = Millis{0};
  EXPECT_THROW(NamingClient{options}, std::invalid_argument);
}

}  // namespace
}  // namespace easyretry::test
