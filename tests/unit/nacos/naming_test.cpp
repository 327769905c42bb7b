#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "nacos/instance.h"
#include "nacos/naming_client.h"
#include "unit/nacos/client_fixture.h"

namespace easyretry::test {
namespace {

using nacos::Instance;
using nacos::NamingClient;
using nacos::ServiceView;

class Naming : public testing::Test {
 protected:
  std::string push(const std::string& as_of, const std::string& ip) {
    return R"({"serviceInfo":{"name":"orders","groupName":"DEFAULT_GROUP","lastRefTime":)" + as_of +
           R"(,"hosts":[{"ip":")" + ip + R"(","port":1}]}})";
  }

  FakeNacos server;
  Recorder<ServiceView> told;
  NamingClient client{options_for({&server})};
};

TEST_F(Naming, AnInstanceIsRegisteredWithEverythingThatServersInsistOn) {
  Instance instance{.ip = "10.0.0.1", .port = 7070, .cluster = "east"};
  describe(instance, {.id = "n-7", .epoch = 1761000000000, .version = "0.1"});
  ASSERT_TRUE(client.register_instance({"orders", "shop"}, instance));
  EXPECT_EQ(server.seen("InstanceRequest").front().body,
            R"({"groupName":"shop","instance":{"clusterName":"east","enabled":true,"ephemeral":true,"healthy":true,)"
            R"("ip":"10.0.0.1","metadata":{"epoch":"1761000000000","nodeId":"n-7","version":"0.1"},"port":7070,)"
            R"("weight":1},"namespace":"public","serviceName":"orders","type":"registerInstance"})");
}

TEST_F(Naming, AnotherRegistrationReplacesTheFirst) {
  ASSERT_TRUE(client.register_instance({"orders"}, {.ip = "10.0.0.1", .port = 1}));
  ASSERT_TRUE(client.register_instance({"orders"}, {.ip = "10.0.0.1", .port = 2}));
  EXPECT_EQ(server.instances("orders"), std::vector<std::string>{"10.0.0.1:2"});
}

TEST_F(Naming, AnInstanceIsTakenBack) {
  ASSERT_TRUE(client.register_instance({"orders"}, {.ip = "10.0.0.1", .port = 7070}));
  ASSERT_TRUE(client.deregister_instance({"orders"}));
  EXPECT_TRUE(server.instances("orders").empty());
  EXPECT_TRUE(client.deregister_instance({"orders"})) << "nothing is left to do";
}

TEST_F(Naming, ARegistrationWithoutAServerTakesEffectLater) {
  server.stop();
  auto options = options_for({&server});
  options.timings.request = Millis{50};
  NamingClient early{options};
  const auto registered = early.register_instance({"orders"}, {.ip = "10.0.0.1", .port = 7070});
  ASSERT_FALSE(registered);
  EXPECT_EQ(registered.error().code, Errc::in_doubt);
  EXPECT_EQ(early.status().unconfirmed, 1U);
  server.start();
  EXPECT_TRUE(eventually([&] { return server.instances("orders").size() == 1; }));
  EXPECT_TRUE(eventually([&] { return early.status().unconfirmed == 0; }));
}

TEST_F(Naming, AFailureOfTheServerIsTriedAgain) {
  server.answer_with("InstanceRequest", 500, 3);
  EXPECT_TRUE(client.register_instance({"orders"}, {.ip = "10.0.0.1", .port = 7070}));
  EXPECT_EQ(server.count("InstanceRequest"), 4U);
}

TEST_F(Naming, ARefusalIsReportedAndNotRetried) {
  server.answer_with("InstanceRequest", 400);
  const auto refused = client.register_instance({"a b"}, {.ip = "10.0.0.1", .port = 7070});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  EXPECT_NE(refused.error().detail.find("as the test wants"), std::string::npos);
  server.end_streams();
  ASSERT_TRUE(eventually([&] { return client.status().connection == 2 && running(client); }));
  ASSERT_TRUE(client.query({"orders"}));
  EXPECT_EQ(server.count("InstanceRequest"), 1U);
  EXPECT_EQ(client.status().unconfirmed, 0U);
}

TEST_F(Naming, MetadataThatIsNotUtf8IsRefused) {
  const auto refused = client.register_instance({"orders"}, {.ip = "10.0.0.1", .metadata = {{"a", "\xff"}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
}

TEST_F(Naming, AQueryGivesTheListSorted) {
  NamingClient other{options_for({&server})};
  ASSERT_TRUE(client.register_instance({"orders"}, {.ip = "10.0.0.2", .port = 7070, .weight = 0.5}));
  ASSERT_TRUE(other.register_instance({"orders"}, {.ip = "10.0.0.1", .port = 7070, .metadata = {{"a", "b"}}}));
  const auto view = client.query({"orders"});
  ASSERT_TRUE(view);
  ASSERT_EQ(view->instances.size(), 2U);
  EXPECT_EQ(view->instances[0], (Instance{.ip = "10.0.0.1", .port = 7070, .metadata = {{"a", "b"}}}));
  EXPECT_EQ(view->instances[1], (Instance{.ip = "10.0.0.2", .port = 7070, .weight = 0.5}));
}

TEST_F(Naming, AServiceCanBeSubscribedBeforeItExists) {
  const auto subscription = client.subscribe({"orders"}, told.listener());
  ASSERT_TRUE(eventually([&] { return addresses(told).empty(); }));
  NamingClient other{options_for({&server})};
  ASSERT_TRUE(other.register_instance({"orders"}, {.ip = "10.0.0.2", .port = 7070}));
  EXPECT_TRUE(eventually([&] { return addresses(told) == "10.0.0.2:7070"; }));
}

TEST_F(Naming, EveryPushIsAcknowledgedByItsId) {
  const auto subscription = client.subscribe({"orders"}, told.listener());
  ASSERT_TRUE(client.register_instance({"orders"}, {.ip = "10.0.0.1", .port = 7070}));
  server.send("NotifySubscriberRequest", R"({"requestId":"n-42","serviceInfo":{"name":"other","groupName":"g"}})");
  ASSERT_TRUE(eventually([&] { return server.count("NotifySubscriberResponse") >= 1; }));
  ASSERT_TRUE(eventually([&] {
    return last_body(server, "NotifySubscriberResponse") == R"({"errorCode":0,"requestId":"n-42","resultCode":200})";
  }));
}

TEST_F(Naming, AListOlderThanTheLastIsDropped) {
  const auto subscription = client.subscribe({"orders"}, told.listener());
  ASSERT_TRUE(eventually([&] { return told.count() == 1; }));
  server.send("NotifySubscriberRequest", push("1900000000002", "10.0.0.2"));
  server.send("NotifySubscriberRequest", push("1900000000001", "10.0.0.1"));
  ASSERT_TRUE(eventually([&] { return server.count("NotifySubscriberResponse") == 2; }));
  Recorder<ServiceView> later;
  const auto second = client.subscribe({"orders"}, later.listener());
  ASSERT_TRUE(eventually([&] { return later.count() == 1; }));
  EXPECT_EQ(addresses(later), "10.0.0.2:1") << "the newest that the client has";
}

TEST_F(Naming, ANewConnectionMayHaveAnOlderClock) {
  const auto subscription = client.subscribe({"orders"}, told.listener());
  ASSERT_TRUE(eventually([&] { return told.count() == 1; }));
  server.send("NotifySubscriberRequest", push("1900000000002", "10.0.0.2"));
  ASSERT_TRUE(eventually([&] { return addresses(told) == "10.0.0.2:1"; }));
  server.end_streams();
  EXPECT_TRUE(eventually([&] { return addresses(told).empty(); })) << "the fake's clock is behind what was pushed";
}

TEST_F(Naming, AThousandQuickPushesLeaveTheLast) {
  const auto subscription = client.subscribe({"orders"}, told.listener());
  ASSERT_TRUE(eventually([&] { return told.count() == 1; }));
  for (int i = 1; i <= 1000; ++i) {
    server.send("NotifySubscriberRequest",
                push(std::to_string(1900000000000 + i), "10.1." + std::to_string(i % 7) + ".1"));
  }
  EXPECT_TRUE(eventually([&] { return server.count("NotifySubscriberResponse") == 1000; }));
  EXPECT_TRUE(eventually([&] { return addresses(told) == "10.1.6.1:1"; }));
}

TEST_F(Naming, AListThatIsTheSameIsNotTold) {
  const auto subscription = client.subscribe({"orders"}, told.listener());
  ASSERT_TRUE(eventually([&] { return told.count() == 1; }));
  server.send("NotifySubscriberRequest", push("1900000000001", "10.0.0.1"));
  server.send("NotifySubscriberRequest", push("1900000000002", "10.0.0.1"));
  ASSERT_TRUE(eventually([&] { return server.count("NotifySubscriberResponse") == 2; }));
  ASSERT_TRUE(eventually([&] { return addresses(told) == "10.0.0.1:1"; }));
  EXPECT_EQ(told.count(), 2U);
}

TEST_F(Naming, ALostPushIsMadeGoodByReadingAgain) {
  auto options = options_for({&server});
  options.timings.refresh = Millis{20};
  NamingClient watchful{options};
  const auto subscription = watchful.subscribe({"orders"}, told.listener());
  ASSERT_TRUE(eventually([&] { return told.count() == 1; }));
  server.hold_pushes(true);
  ASSERT_TRUE(client.register_instance({"orders"}, {.ip = "10.0.0.1", .port = 7070}));
  EXPECT_TRUE(eventually([&] { return addresses(told) == "10.0.0.1:7070"; }));
}

TEST_F(Naming, AListenerMayWantOneClusterOnly) {
  NamingClient other{options_for({&server})};
  ASSERT_TRUE(client.register_instance({"orders"}, {.ip = "10.0.0.1", .port = 1, .cluster = "east"}));
  ASSERT_TRUE(other.register_instance({"orders"}, {.ip = "10.0.0.2", .port = 2, .cluster = "west"}));
  Recorder<ServiceView> west;
  const auto all_of_it = client.subscribe({"orders"}, told.listener());
  const auto one_cluster = client.subscribe({"orders"}, west.listener(), "west");
  EXPECT_TRUE(eventually([&] { return addresses(told) == "10.0.0.1:1 10.0.0.2:2"; }));
  EXPECT_TRUE(eventually([&] { return addresses(west) == "10.0.0.2:2"; }));
}

TEST_F(Naming, TheServerIsNotifiedWhenTheLastSubscriptionEnds) {
  auto one = client.subscribe({"orders"}, told.listener());
  auto two = client.subscribe({"orders"}, told.listener());
  ASSERT_TRUE(eventually([&] { return told.count() == 2; }));
  one.end();
  ASSERT_TRUE(client.register_instance({"orders"}, {.ip = "10.0.0.1", .port = 1}));
  ASSERT_TRUE(eventually([&] { return addresses(told) == "10.0.0.1:1"; })) << "the second is still there";
  two.end();
  EXPECT_TRUE(eventually(
      [&] { return last_body(server, "SubscribeServiceRequest").find(R"("subscribe":false)") != std::string::npos; }));
}

TEST_F(Naming, TheEndOfASubscriptionWaitsForItsListener) {
  std::atomic<bool> inside = false, may_leave = false, left = false;
  auto subscription = client.subscribe({"orders"}, [&](const ServiceView&) {
    inside = true;
    eventually([&] { return may_leave.load(); });
    left = true;
  });
  ASSERT_TRUE(eventually([&] { return inside.load(); }));
  std::thread release{[&] { may_leave = true; }};
  subscription.end();
  EXPECT_TRUE(left);
  release.join();
}

TEST_F(Naming, AListenerMayEndItsOwnSubscription) {
  nacos::Subscription subscription;
  std::mutex made;
  std::atomic<bool> ended = false;
  {
    const std::lock_guard lock{made};
    subscription = client.subscribe({"orders"}, [&](const ServiceView&) {
      const std::lock_guard wait_until_assigned{made};
      subscription.end();
      ended = true;
    });
  }
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
}

TEST_F(Naming, AListenerThatThrowsIsCalledAgain) {
  const auto subscription = client.subscribe({"orders"}, [&](const ServiceView& view) {
    told.listener()(view);
    throw std::runtime_error("a mistake");
  });
  ASSERT_TRUE(eventually([&] { return told.count() == 1; }));
  ASSERT_TRUE(client.register_instance({"orders"}, {.ip = "10.0.0.1", .port = 7070}));
  EXPECT_TRUE(eventually([&] { return addresses(told) == "10.0.0.1:7070"; }));
}

TEST_F(Naming, ANamespaceIsSentByItsIdAndTheDefaultOneByItsName) {
  auto options = options_for({&server});
  options.name_space = "blue";
  NamingClient blue{options};
  ASSERT_TRUE(blue.query({"orders"}));
  ASSERT_TRUE(client.query({"orders"}));
  const auto queries = server.seen("ServiceQueryRequest");
  EXPECT_NE(queries[0].body.find(R"("namespace":"blue")"), std::string::npos);
  EXPECT_NE(queries[1].body.find(R"("namespace":"public")"), std::string::npos);
}

}  // namespace
}  // namespace easyretry::test
