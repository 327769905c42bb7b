// Members that meet in a real Nacos.

#include <atomic>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/nacos/nacos_membership.h"
#include "nacos/real_nacos.h"
#include "support/eventually.h"

namespace easyretry::test {
namespace {

using cluster::NacosMembership;
using testing::HasSubstr;

constexpr std::chrono::seconds kLong{90};  // for a restart

class MembersInRealNacos : public OnEachNacos {
 protected:
  std::unique_ptr<NacosMembership> join(const std::string& node, const std::string& server,
                                        const std::string& options = "") {
    auto url = nacos::parse_service_url("nacos://" + server + "/" + service + options);
    url.client.log = [](LogLevel, std::string_view) {};
    return std::make_unique<NacosMembership>(url, cluster::SharedSettings{"shop", 64}, node);
  }
  std::string shared(const std::string& who = "nacos:nacos") const { return at(port(), who); }
  static int port() { return shared_server(GetParam()); }
  static std::string at(int port, const std::string& who = "nacos:nacos") {
    return who + "@127.0.0.1:" + std::to_string(port);
  }

  static std::string nodes(NacosMembership& membership) {
    const auto roll = membership.refresh({.says = "8: 0-7"});
    if (!roll) return roll.error().detail;
    std::multiset<std::string> sorted;
    for (const Member& member : roll->members) sorted.insert(member.node);
    std::string all;
    for (const std::string& node : sorted) all += (all.empty() ? "" : " ") + node;
    return all;
  }
  static bool sees(NacosMembership& membership, const std::string& expected,
                   std::chrono::seconds limit = std::chrono::seconds{20}) {
    return eventually([&] { return nodes(membership) == expected; }, limit);
  }
  static std::string trouble(NacosMembership& membership, const std::string& expected) {
    std::string said;
    eventually([&] { return (said = nodes(membership)).find(expected) != said.npos; });
    return said;
  }

  const std::string service = unique_name();
};

ON_EACH_NACOS(MembersInRealNacos);

TEST_P(MembersInRealNacos, FindEachOtherAndHearOfComersAndGoers) {
  std::atomic<int> told = 0;
  const auto a = join("a", shared());
  a->listen([&] { ++told; });
  ASSERT_TRUE(sees(*a, "a"));
  const auto b = join("b", shared());
  ASSERT_TRUE(sees(*b, "a b"));
  auto c = join("c", shared());
  ASSERT_TRUE(sees(*c, "a b c"));
  ASSERT_TRUE(sees(*a, "a b c"));
  b->leave();
  EXPECT_TRUE(sees(*a, "a c"));
  const int before = told;
  c.reset();  // silently, like a killed process
  EXPECT_TRUE(eventually([&] { return told > before; }));
  EXPECT_TRUE(sees(*a, "a"));
}

TEST_P(MembersInRealNacos, AreShownToOthersWithTheirMetadata) {
  const auto a = join("a", shared(), "?group=shop&cluster=east");
  ASSERT_TRUE(sees(*a, "a"));
  const std::string seen = http_get(port(), "/v1/ns/instance/list?groupName=shop&clusters=east&serviceName=" + service);
  for (const char* part : {R"("nodeId":"a")", R"("space":"shop")", R"("totalShards":"64")", R"("shards":"8: 0-7")"}) {
    EXPECT_THAT(seen, HasSubstr(part));
  }
}

TEST_P(MembersInRealNacos, AtOneAddressAreTwo) {
  const auto a = join("a", shared(), "?ip=10.0.0.1&port=7070");
  const auto b = join("b", shared(), "?ip=10.0.0.1&port=7070");
  nodes(*a);
  EXPECT_TRUE(sees(*b, "a b"));
}

TEST_P(MembersInRealNacos, RefuseAStrangerUnderTheirName) {
  const auto a = join("a", shared());
  ASSERT_TRUE(sees(*a, "a"));
  ASSERT_EQ(ask_by_http("POST", port(), "/v1/ns/instance?ip=10.0.0.9&port=80&serviceName=" + service), "ok");
  ASSERT_TRUE(eventually([&] { return a->refresh({.says = "8: 0-7"}).value().refused.size() == 1; }));
  EXPECT_EQ(a->refresh({.says = "8: 0-7"}).value().refused[0].who, "10.0.0.9:80");
  EXPECT_EQ(nodes(*a), "a");
}

TEST_P(MembersInRealNacos, AreToldWhatIsWrongWithTheAddressOrTheUser) {
  const auto wrong_password = join("a", shared("nacos:wrong"));
  EXPECT_THAT(trouble(*wrong_password, "check username and password"), HasSubstr("refused the user nacos"));
  const auto nobody = join("a", "127.0.0.1:" + std::to_string(port()));
  EXPECT_THAT(trouble(*nobody, "check the user"), HasSubstr("check the user"));
  const auto nowhere = join("a", at(1));
  EXPECT_THAT(trouble(*nowhere, "is Nacos running there"), HasSubstr("127.0.0.1:1"));
}

TEST_P(MembersInRealNacos, FindEachOtherByHttpToo) {
  const auto a = join("a", shared(), "?transport=http&group=shop&cluster=east");
  auto b = join("b", shared(), "?transport=http&group=shop&cluster=east");
  nodes(*a);
  ASSERT_TRUE(sees(*b, "a b"));
  ASSERT_TRUE(sees(*a, "a b"));
  const auto c = join("c", shared(), "?transport=grpc&group=shop&cluster=east");
  ASSERT_TRUE(sees(*c, "a b c"));
  ASSERT_TRUE(sees(*a, "a b c"));
  b->leave();
  EXPECT_TRUE(sees(*a, "a c"));
  EXPECT_TRUE(sees(*c, "a c"));
}

TEST_P(MembersInRealNacos, SpeakHttpWhereGrpcIsBlocked) {
  const auto a = join("a", shared(), "?grpc_port=1");
  const auto b = join("b", shared());
  ASSERT_TRUE(sees(*b, "b"));
  EXPECT_TRUE(sees(*a, "a b", kLong));
  EXPECT_TRUE(sees(*b, "a b"));
}

TEST_P(MembersInRealNacos, WithAWrongPasswordByHttpAreTold) {
  const auto a = join("a", shared("nacos:wrong"), "?transport=http");
  EXPECT_THAT(trouble(*a, "check the user"), HasSubstr("127.0.0.1"));
}

TEST_P(MembersInRealNacos, DieByHttpWhenTheirBeatsStop) {
  const auto a = join("a", shared(), "?transport=http");
  auto b = join("b", shared(), "?transport=http");
  nodes(*a);
  ASSERT_TRUE(sees(*b, "a b"));
  ASSERT_TRUE(sees(*a, "a b"));
  b.reset();
  EXPECT_TRUE(sees(*a, "a", kLong));
}

TEST_P(MembersInRealNacos, KeepEachOtherWhileItIsKilledAndRestarted) {
  OwnNacos server{GetParam()};
  const auto a = join("a", at(server.port()));
  const auto b = join("b", at(server.port()));
  nodes(*a);
  ASSERT_TRUE(sees(*b, "a b"));
  ASSERT_TRUE(sees(*a, "a b"));
  server.kill();
  EXPECT_THAT(trouble(*a, "is Nacos running there"), HasSubstr("127.0.0.1"));
  server.start();
  std::string list;
  ASSERT_TRUE(eventually(
      [&] {
        const auto roll = a->refresh({.says = "8: 0-7"});
        if (roll) list = nodes(*a);
        return roll.has_value();
      },
      kLong));
  EXPECT_EQ(list, "a b") << "the first list of a server that knows nobody yet";
  EXPECT_TRUE(sees(*b, "a b", kLong));
}

}  // namespace
}  // namespace easyretry::test
