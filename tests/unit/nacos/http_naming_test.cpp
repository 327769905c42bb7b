// Naming if gRPC is blocked.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nacos/naming_client.h"
#include "unit/nacos/client_fixture.h"

namespace easyretry::test {
namespace {

using nacos::Instance;
using nacos::NamingClient;
using nacos::ServiceView;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

nacos::ClientOptions by_http(const FakeNacos& server) {
  auto options = options_for({&server});
  options.transport = nacos::Transport::http;
  return options;
}

const Instance kOurs{.ip = "10.0.0.1", .port = 7070, .metadata = {{"nodeId", "n&7=ä"}}};

class HttpNaming : public testing::TestWithParam<std::string> {
 protected:
  FakeNacos server{{.http = GetParam()}};
  Recorder<ServiceView> told;
  NamingClient client{by_http(server)};
};

INSTANTIATE_TEST_SUITE_P(Dialects, HttpNaming, testing::Values("v1", "v3"),
                         [](const auto& dialect) { return dialect.param; });

TEST_P(HttpNaming, AnInstanceIsRegisteredWithItsMetadataAndTakenBack) {
  const auto registered = client.register_instance({"orders"}, kOurs);
  ASSERT_TRUE(registered) << to_string(registered.error());
  const auto view = client.query({"orders"});
  ASSERT_TRUE(view);
  EXPECT_EQ(view->instances, std::vector{kOurs});
  EXPECT_EQ(client.status().connection_id, "http");
  ASSERT_TRUE(client.deregister_instance({"orders"}));
  EXPECT_THAT(server.instances("orders"), IsEmpty());
  EXPECT_EQ(server.count("ServerCheckRequest"), 0U) << "no gRPC if HTTP is configured";
}

TEST_P(HttpNaming, ListenersSeeInstancesComeAndGo) {
  const auto subscription = client.subscribe({"orders"}, told.listener());
  ASSERT_TRUE(eventually([&] { return addresses(told).empty(); }));
  NamingClient other{by_http(server)};
  ASSERT_TRUE(other.register_instance({"orders"}, kOurs));
  EXPECT_TRUE(eventually([&] { return addresses(told) == "10.0.0.1:7070"; }));
  ASSERT_TRUE(other.deregister_instance({"orders"}));
  EXPECT_TRUE(eventually([&] { return addresses(told).empty(); }));
}

TEST_P(HttpNaming, ListenersGetTheClusterTheyWant) {
  NamingClient other{by_http(server)};
  ASSERT_TRUE(other.register_instance({"orders"}, {.ip = "10.0.0.2", .port = 2, .cluster = "west"}));
  ASSERT_TRUE(client.register_instance({"orders"}, {.ip = "10.0.0.1", .port = 1, .cluster = "east"}));
  const auto subscription = client.subscribe({"orders"}, told.listener(), "west");
  EXPECT_TRUE(eventually([&] { return addresses(told) == "10.0.0.2:2"; }));
}

TEST_P(HttpNaming, AForgottenRegistrationIsRepeated) {
  ASSERT_TRUE(client.register_instance({"orders"}, kOurs));
  server.forget_http();
  EXPECT_TRUE(eventually([&] { return server.instances("orders").size() == 1; }));
}

TEST_P(HttpNaming, AServerThatIsBackGetsEverythingAgain) {
  ASSERT_TRUE(client.register_instance({"orders"}, kOurs));
  const auto before = client.status().connection;
  server.stop_http();
  ASSERT_TRUE(eventually([&] { return !running(client); }));
  server.forget_http();
  server.start_http();
  EXPECT_TRUE(eventually([&] { return server.instances("orders").size() == 1; }));
  EXPECT_TRUE(eventually([&] { return client.status().connection > before; }));
}

TEST_P(HttpNaming, ARefusalIsReportedAndNotRetried) {
  const auto refused = client.register_instance({"a b"}, kOurs);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  EXPECT_THAT(refused.error().detail, HasSubstr("as the test wants"));
  EXPECT_EQ(client.registration({"a b"}).error().code, Errc::invalid_argument);
}

TEST_P(HttpNaming, AMissingRightSaysWhatToCheck) {
  server.want_token("t-1");
  NamingClient stranger{by_http(server)};
  ASSERT_TRUE(eventually([&] { return stranger.status().last_trouble.has_value(); }));
  EXPECT_THAT(stranger.status().last_trouble->detail, HasSubstr("check the user, the password"));
  EXPECT_FALSE(running(stranger));
}

TEST_P(HttpNaming, AChangedInstanceReplacesTheFormer) {
  ASSERT_TRUE(client.register_instance({"orders"}, kOurs));
  Instance changed = kOurs;
  changed.metadata["shards"] = "0-31";
  ASSERT_TRUE(client.register_instance({"orders"}, changed));
  EXPECT_EQ(client.query({"orders"})->instances, std::vector{changed});
}

class HttpInsteadOfGrpc : public testing::Test {
 protected:
  nacos::ClientOptions options() const {
    auto options = options_for({&server});
    options.timings.fallback = Millis{50};
    return options;
  }
  FakeNacos server{{.http = "v1"}};
  Recorder<ServiceView> told;
};

TEST_F(HttpInsteadOfGrpc, IsUsedWhileGrpcCannotConnect) {
  server.stop();
  NamingClient client{options()};
  const auto subscription = client.subscribe({"orders"}, told.listener());
  client.announce({"orders"}, kOurs);
  EXPECT_TRUE(eventually([&] { return addresses(told) == "10.0.0.1:7070"; }));
  EXPECT_TRUE(eventually([&] { return client.status().connection_id == "http"; }));
  EXPECT_TRUE(client.registration({"orders"}));
  const auto by_http = told.last()->connection;

  server.start();
  EXPECT_TRUE(eventually([&] { return running(client) && client.status().connection_id != "http"; }));
  EXPECT_TRUE(eventually([&] { return told.last()->connection > by_http && addresses(told) == "10.0.0.1:7070"; }))
      << "one registration, by gRPC; the one by HTTP is removed";
  EXPECT_TRUE(eventually([&] { return server.seen_by_http().back() == "DELETE /nacos/v1/ns/instance"; }));
}

TEST_F(HttpInsteadOfGrpc, IsNotTriedWhileGrpcWorks) {
  auto patient = options();
  patient.timings.fallback = Millis{1000};  // longer than connecting takes
  NamingClient client{patient};
  ASSERT_TRUE(client.register_instance({"orders"}, kOurs));
  ASSERT_TRUE(eventually([&] { return server.count("HealthCheckRequest") >= 40; }));  // one each 50 ms
  EXPECT_THAT(server.seen_by_http(), IsEmpty());
}

TEST_F(HttpInsteadOfGrpc, IsNotTriedInPlainTextWithTls) {
  server.stop();
  auto secret = options();
  secret.tls = nacos::TlsOptions{};
  secret.timings.request = Millis{500};
  NamingClient client{secret};
  EXPECT_FALSE(client.register_instance({"orders"}, kOurs));
  EXPECT_THAT(server.seen_by_http(), IsEmpty());
}

TEST_F(HttpInsteadOfGrpc, IsNotTriedIfGrpcIsRequired) {
  server.stop();
  auto only = options();
  only.transport = nacos::Transport::grpc;
  only.timings.request = Millis{200};
  NamingClient client{only};
  EXPECT_FALSE(client.register_instance({"orders"}, kOurs));
  EXPECT_THAT(server.seen_by_http(), IsEmpty());
}

}  // namespace
}  // namespace easyretry::test
