// Membership with a registry that the test controls.

#include "cluster/nacos/nacos_membership.h"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_nacos/fake_http.h"
#include "unit/nacos/client_fixture.h"

namespace easyretry::cluster {
namespace {

using test::eventually;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class NacosMembershipTest : public ::testing::Test {
 protected:
  nacos::ServiceUrl url() const {
    nacos::ServiceUrl url{.client = test::options_for({&server}), .service = {"retries"}};
    url.ip = "10.0.0.1";
    return url;
  }
  std::unique_ptr<NacosMembership> join(const std::string& node, nacos::ServiceUrl where,
                                        SharedSettings settings = {"shop", 64}) {
    return std::make_unique<NacosMembership>(std::move(where), std::move(settings), node);
  }
  std::unique_ptr<NacosMembership> join(const std::string& node) { return join(node, url()); }

  static std::string nodes(NacosMembership& membership, const std::string& says = "none") {
    const auto roll = membership.refresh({says});
    if (!roll) return roll.error().detail;
    std::string all;
    for (const Member& member : roll->members) all += (all.empty() ? "" : " ") + member.node;
    return all;
  }
  static bool sees(NacosMembership& membership, const std::string& expected) {
    return eventually([&] { return nodes(membership) == expected; });
  }
  // The error instead of a list.
  static std::string trouble(NacosMembership& membership, const std::string& expected) {
    std::string last;
    eventually([&] {
      last = nodes(membership);
      return last.find(expected) != last.npos;
    });
    return last;
  }

  test::FakeNacos server;
};

TEST_F(NacosMembershipTest, AnInstanceIsKnownByItsMetadata) {
  const auto a = join("host:1:1");
  ASSERT_TRUE(sees(*a, "host:1:1"));
  const std::string body = server.seen("InstanceRequest").front().body;
  for (const char* part : {R"("nodeId":"host:1:1")", R"("version":"0.1)", R"("space":"shop")", R"("totalShards":"64")",
                           R"("shards":"none")", R"("epoch":"1)", R"("ip":"10.0.0.1")", R"("clusterName":"DEFAULT")"}) {
    EXPECT_THAT(body, HasSubstr(part));
  }
}

TEST_F(NacosMembershipTest, MembersSeeEachOtherAndAreToldOfChanges) {
  std::atomic<int> told = 0;
  const auto a = join("a");
  a->listen([&] { ++told; });
  ASSERT_TRUE(sees(*a, "a"));
  const int before = told;
  const auto b = join("b");
  ASSERT_TRUE(sees(*b, "a b"));
  EXPECT_TRUE(eventually([&] { return told > before; }));
  EXPECT_TRUE(sees(*a, "a b"));
}

TEST_F(NacosMembershipTest, AnAnnouncementReachesTheOthers) {
  const auto a = join("a");
  const auto b = join("b");
  nodes(*b);
  nodes(*a, "32: every 2nd from 0");
  EXPECT_TRUE(eventually([&] {
    const auto roll = b->refresh({"none"});
    return roll && roll->members.size() == 2 && roll->members[0].says == "32: every 2nd from 0";
  }));
}

TEST_F(NacosMembershipTest, AnUnchangedAnnouncementIsNotRegisteredAgain) {
  const auto a = join("a");
  ASSERT_TRUE(sees(*a, "a"));
  for (int i = 0; i < 10; ++i) nodes(*a);
  EXPECT_EQ(server.count("InstanceRequest"), 1U);
}

TEST_F(NacosMembershipTest, LeavingDeregistersAndDisconnects) {
  const auto a = join("a");
  auto b = join("b");
  nodes(*b);  // joins
  ASSERT_TRUE(sees(*a, "a b"));
  b->leave();
  EXPECT_THAT(test::last_body(server, "InstanceRequest"), HasSubstr("deregisterInstance"));
  EXPECT_TRUE(sees(*a, "a"));
}

TEST_F(NacosMembershipTest, LeavingWithoutARegistryIsNotWaitedFor) {
  auto where = url();
  where.client.timings.request = Millis{3600'000};
  const auto a = join("a", where);
  ASSERT_TRUE(sees(*a, "a"));
  server.stop();
  trouble(*a, "127.0.0.1");
  a->leave();
}

TEST_F(NacosMembershipTest, AnUnusedMembershipHasNoConnection) {
  const auto a = join("a");
  a->leave();
  EXPECT_EQ(server.clients(), 0U);
}

TEST_F(NacosMembershipTest, TwoWithOneAddressAreTwoMembers) {
  auto where = url();
  where.port = 7070;
  const auto a = join("a", where);
  const auto b = join("b", where);
  nodes(*a);  // joins
  EXPECT_TRUE(sees(*b, "a b"));
}

TEST_F(NacosMembershipTest, TwoWithOneAddressOverHttpGetAnError) {
  const test::FakeNacos old{{.http = "v1"}};
  nacos::ServiceUrl where{.client = test::options_for({&old}), .service = {"retries"}, .ip = "10.0.0.1", .port = 7070};
  where.client.transport = nacos::Transport::http;
  const auto a = join("a", where);
  ASSERT_TRUE(sees(*a, "a"));
  const auto b = join("b", where);
  nodes(*b);  // b takes over the address
  EXPECT_THAT(trouble(*a, "Nacos already has b"), HasSubstr("over HTTP, each instance needs its own address"));
}

TEST_F(NacosMembershipTest, ANamespaceThatIsNotUtf8IsRefused) {
  const auto a = join("a", url(), {"\xff", 64});
  EXPECT_THAT(nodes(*a), HasSubstr("the namespace is not valid text"));
}

TEST_F(NacosMembershipTest, OnOneAddressEachHasAPortOfItsOwn) {
  const auto a = join("a");
  const auto b = join("b");
  nodes(*a);  // joins
  ASSERT_TRUE(sees(*b, "a b"));
  const auto addresses = server.instances("retries");
  ASSERT_THAT(addresses, SizeIs(2));
  EXPECT_NE(addresses[0], addresses[1]);
  EXPECT_THAT(addresses, ::testing::Not(::testing::Contains("10.0.0.1:0")));
}

TEST_F(NacosMembershipTest, OtherClustersAndGroupsAreIgnored) {
  auto east = url(), shop = url();
  east.cluster = "east";
  shop.service.group = "shop";
  const auto a = join("a");
  const auto b = join("b", east);
  const auto c = join("c", shop);
  EXPECT_TRUE(sees(*b, "b"));
  EXPECT_TRUE(sees(*c, "c"));
  EXPECT_TRUE(sees(*a, "a"));
}

TEST_F(NacosMembershipTest, ForeignInstancesAreRefusedAndTheOthersAreMembers) {
  const auto a = join("a");
  nacos::NamingClient web{test::options_for({&server})};
  ASSERT_TRUE(web.register_instance({"retries"}, {.ip = "10.0.0.9", .port = 80}));
  const auto other = join("x", url(), {"bank", 64});
  ASSERT_TRUE(sees(*other, "x"));
  ASSERT_TRUE(sees(*a, "a"));
  ASSERT_TRUE(eventually([&] { return a->refresh({"none"}).value().refused.size() == 2; }));
  EXPECT_EQ(a->refresh({"none"}).value().refused[1].who, "10.0.0.9:80");
}

TEST_F(NacosMembershipTest, ARegistryThatIsGoneGivesNoListAndAllOfThemWhenItIsBack) {
  const auto a = join("a");
  {
    const auto b = join("b");
    nodes(*b);  // joins
    ASSERT_TRUE(sees(*a, "a b"));
    server.stop();
    EXPECT_THAT(trouble(*a, "127.0.0.1"), HasSubstr("127.0.0.1:8848"));
  }
  server.start();
  EXPECT_TRUE(sees(*a, "a b")) << "the missing member may be coming back";
}

TEST_F(NacosMembershipTest, ARegistryThatDoesNotAnswerIsNamedWithAdvice) {
  server.stop();
  const auto a = join("a");
  const std::string error = trouble(*a, "gRPC");
  EXPECT_THAT(error, HasSubstr("127.0.0.1:8848"));
  EXPECT_THAT(error, HasSubstr("is Nacos running there, and the gRPC port"));
}

TEST_F(NacosMembershipTest, AWrongPasswordIsReportedAndNotShown) {
  const test::FakeHttp login{[](const auto&) { return test::FakeHttp::Answer{403, "unknown user!"}; }};
  server.want_token("t-1");
  auto where = url();
  where.client.servers.front().port = login.port();
  where.client.credentials = {"shop", "p4ssw0rd"};
  const auto a = join("a", where);
  const std::string error = trouble(*a, "check username and password");
  EXPECT_THAT(error, HasSubstr("refused the user shop"));
  EXPECT_THAT(error, ::testing::Not(HasSubstr("p4ssw0rd")));
}

TEST_F(NacosMembershipTest, ATokenThatEndsIsReplaced) {
  std::atomic<int> count = 0;
  const test::FakeHttp login{[&](const auto&) {
    return test::FakeHttp::Answer{200, R"({"accessToken":"t-)" + std::to_string(++count) + R"(","tokenTtl":18000})"};
  }};
  server.want_token("t-1");
  auto where = url();
  where.client.servers.front().port = login.port();
  where.client.credentials = {"shop", "p4ssw0rd"};
  where.client.timings.relogin = Millis{1};
  const auto a = join("a", where);
  ASSERT_TRUE(sees(*a, "a"));
  server.want_token("t-2");
  nodes(*a, "64: 0-63");
  EXPECT_TRUE(eventually([&] { return a->refresh({"64: 0-63"}).value().members.at(0).says == "64: 0-63"; }));
}

TEST_F(NacosMembershipTest, ARefusedRegistrationIsAnError) {
  server.answer_with("InstanceRequest", 400);
  const auto a = join("a");
  EXPECT_THAT(trouble(*a, "as the test wants"), HasSubstr("as the test wants"));
}

}  // namespace
}  // namespace easyretry::cluster
