// The client with a real Nacos. A fake server cannot prove these.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nacos/config_client.h"
#include "nacos/instance.h"
#include "nacos/naming_client.h"
#include "nacos/real_nacos.h"
#include "support/cutting_proxy.h"
#include "support/eventually.h"
#include "unit/nacos/recorder.h"

namespace easyretry::test {
namespace {

using nacos::ConfigClient;
using nacos::Instance;
using nacos::NamingClient;
using nacos::ServiceView;
using testing::HasSubstr;
using testing::Not;
using Text = std::optional<std::string>;

constexpr std::chrono::seconds kLong{90};  // a restart, or the eviction of a silent client, takes tens of seconds

Instance an_instance(int port) {
  Instance instance{.ip = "127.0.0.1", .port = port};
  describe(instance, {.id = "node-" + std::to_string(port), .epoch = 1761000000000, .version = "0.1"});
  return instance;
}

std::string list_by_http(int port, const std::string& service) {
  return http_get(port, "/v1/ns/instance/list?serviceName=" + service);
}

class RealNacos : public OnEachNacos {
 protected:
  const int port = shared_server(GetParam());
  const nacos::ServiceName service{unique_name()};
};

ON_EACH_NACOS(RealNacos);

TEST_P(RealNacos, ShowsOthersWhatWeRegister) {
  NamingClient client{options_for(port)};
  const auto registered = client.register_instance(service, an_instance(7070));
  ASSERT_TRUE(registered) << to_string(registered.error());
  EXPECT_TRUE(eventually([&] {
    const std::string seen = list_by_http(port, service.name);
    return seen.find(R"("port":7070)") != seen.npos && seen.find(R"("nodeId":"node-7070")") != seen.npos;
  })) << list_by_http(port, service.name);
  ASSERT_TRUE(client.deregister_instance(service));
  EXPECT_TRUE(eventually([&] { return list_by_http(port, service.name).find("7070") == std::string::npos; }));
}

TEST_P(RealNacos, GivesEachMemberTheSameMembers) {
  Recorder<ServiceView> told_one, told_two;
  NamingClient one{options_for(port)};
  auto two = std::make_unique<NamingClient>(options_for(port));
  const auto first = one.subscribe(service, told_one.listener());
  auto second = two->subscribe(service, told_two.listener());
  ASSERT_TRUE(one.register_instance(service, an_instance(1)));
  ASSERT_TRUE(two->register_instance(service, an_instance(2)));
  const std::string both = "127.0.0.1:1 127.0.0.1:2";
  EXPECT_TRUE(eventually([&] { return addresses(told_one) == both && addresses(told_two) == both; }));
  EXPECT_EQ(members_of(*told_one.last()).at(1).node, (nacos::Node{"node-2", 1761000000000, "0.1"}));
  second.end();
  two.reset();
  EXPECT_TRUE(eventually([&] { return addresses(told_one) == "127.0.0.1:1"; })) << "the end of a client is noticed";
}

TEST_P(RealNacos, TakesAChangeOfMetadata) {
  NamingClient client{options_for(port)};
  ASSERT_TRUE(client.register_instance(service, an_instance(1)));
  Instance changed = an_instance(1);
  changed.metadata["shards"] = "0-31";
  ASSERT_TRUE(client.register_instance(service, changed));
  EXPECT_TRUE(eventually([&] {
    const auto view = client.query(service);
    return view && view->instances == std::vector{changed};
  }));
}

TEST_P(RealNacos, KeepsGroupsAndNamespacesApart) {
  NamingClient client{options_for(port)};
  ASSERT_TRUE(client.register_instance(service, an_instance(1)));
  EXPECT_TRUE(client.query({service.name, "elsewhere"})->instances.empty());
  auto options = options_for(port);
  options.name_space = "blue";
  NamingClient blue{options};
  ASSERT_TRUE(blue.query(service));
  EXPECT_TRUE(blue.query(service)->instances.empty());
}

TEST_P(RealNacos, RefusesTooMuchMetadata) {
  NamingClient client{options_for(port)};
  Instance fat = an_instance(1);
  fat.metadata["fat"] = std::string(2000, 'x');
  const auto refused = client.register_instance(service, fat);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument) << to_string(refused.error());
}

TEST_P(RealNacos, RefusesAWrongPassword) {
  auto options = options_for(port);
  options.credentials->password = "wrong";
  NamingClient client{options};
  const auto refused = client.query(service);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().detail, HasSubstr("check the user"));
  EXPECT_THAT(to_string(*client.status().last_trouble), HasSubstr("refused the user nacos"));
}

TEST_P(RealNacos, RefusesAStranger) {
  auto options = options_for(port);
  options.credentials.reset();
  NamingClient client{options};
  EXPECT_FALSE(client.query(service));
}

TEST_P(RealNacos, CanAskAClientToConnectAgain) {
  Recorder<ServiceView> told;
  NamingClient client{options_for(port)};
  const auto subscription = client.subscribe(service, told.listener());
  ASSERT_TRUE(client.register_instance(service, an_instance(1)));
  const std::string which = "/core/loader/reloadClient?connectionId=" + client.status().connection_id;
  is_3() ? ask_by_http("POST", port, "/v3/admin" + which) : http_get(port, "/v2" + which);
  EXPECT_TRUE(eventually([&] { return client.status().connection == 2; }));
  EXPECT_TRUE(eventually([&] {
    const auto view = told.last();
    return view && view->connection == 2 && addresses(told) == "127.0.0.1:1";
  }));
}

// A member whose network the test breaks, seen by a member with a working network.
class RealNacosThroughANetwork : public RealNacos {
 protected:
  void SetUp() override {
    auto options = options_for(port);
    options.servers.front().grpc_port = network.port();
    options.transport = nacos::Transport::grpc;  // HTTP does not use the broken network
    client.emplace(options);
    ASSERT_TRUE(client->register_instance(service, an_instance(1)));
    ASSERT_TRUE(eventually([&] { return addresses(told) == "127.0.0.1:1"; }));
  }

  CuttingProxy network{port + nacos::kGrpcPortOffset};
  Recorder<ServiceView> told;
  NamingClient witness{options_for(port)};
  const nacos::Subscription subscription = witness.subscribe(service, told.listener());
  std::optional<NamingClient> client;
};

ON_EACH_NACOS(RealNacosThroughANetwork);

TEST_P(RealNacosThroughANetwork, ForgetsAClientThatIsCutOffAndTakesItBack) {
  network.refuse_new();
  network.cut_all();
  ASSERT_TRUE(eventually([&] { return addresses(told).empty(); }));
  network.accept_new();
  EXPECT_TRUE(eventually([&] { return addresses(told) == "127.0.0.1:1"; }));
}

TEST_P(RealNacosThroughANetwork, ForgetsAClientThatFallsSilentAndTakesItBack) {
  network.freeze();
  ASSERT_TRUE(eventually([&] { return client->status().state == nacos::State::connecting; }, kLong));
  ASSERT_TRUE(eventually([&] { return addresses(told).empty(); }, kLong));
  network.thaw();
  EXPECT_TRUE(eventually([&] { return addresses(told) == "127.0.0.1:1"; }, kLong));
}

TEST_P(RealNacos, TellsOfEachChangeOfAConfigurationOnce) {
  ConfigClient client{options_for(port)};
  ConfigClient writer{options_for(port)};
  const nacos::ConfigKey key{unique_name()};
  Recorder<Text> told;
  EXPECT_EQ(client.get(key).value(), std::nullopt);
  const auto listening = client.listen(key, told.listener());
  std::vector<Text> expected{std::nullopt};
  ASSERT_TRUE(eventually([&] { return told.all() == expected; }));
  for (const Text& text : {Text{"workers: 8"}, Text{"workers: 16\n# größer"}}) {
    ASSERT_TRUE(writer.publish(key, *text));
    expected.push_back(text);
    ASSERT_TRUE(eventually([&] { return told.all() == expected; }));
  }
  EXPECT_EQ(client.get(key).value(), expected.back());
  ASSERT_TRUE(writer.remove(key));
  expected.push_back(std::nullopt);
  EXPECT_TRUE(eventually([&] { return told.all() == expected; }));
}

using RealNacosThatDies = OnEachNacos;
ON_EACH_NACOS(RealNacosThatDies);

TEST_P(RealNacosThatDies, GetsItsMembersAndListenersBack) {
  OwnNacos server{GetParam()};
  const nacos::ServiceName service{unique_name()};
  const nacos::ConfigKey key{unique_name()};
  Recorder<ServiceView> told;
  Recorder<Text> told_text;
  NamingClient one{options_for(server.port())};
  NamingClient two{options_for(server.port())};
  ConfigClient config{options_for(server.port())};
  const auto subscription = one.subscribe(service, told.listener());
  const auto listening = config.listen(key, told_text.listener());
  ASSERT_TRUE(one.register_instance(service, an_instance(1)));
  ASSERT_TRUE(two.register_instance(service, an_instance(2)));
  ASSERT_TRUE(eventually([&] { return addresses(told) == "127.0.0.1:1 127.0.0.1:2"; }));
  server.kill();
  ASSERT_TRUE(eventually([&] { return one.status().state == nacos::State::connecting; }));
  server.start();
  EXPECT_TRUE(eventually(
      [&] {
        const auto view = told.last();
        return view->connection > 1 && addresses(told) == "127.0.0.1:1 127.0.0.1:2";
      },
      kLong));
  EXPECT_TRUE(eventually([&] { return config.publish(key, "after").has_value(); }, kLong));
  EXPECT_TRUE(eventually([&] { return told_text.last() == Text{"after"}; }));
}

}  // namespace
}  // namespace easyretry::test
