#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

#include "cluster/nacos/nacos_membership.h"
#include "cluster/open_membership.h"
#include "storage/memory/memory_store.h"
#include "unit/nacos/client_fixture.h"

namespace easyretry::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ListMembers : public ::testing::Test {
 protected:
  MembersReport seen(const std::string& membership) {
    return list_members(parse_membership(membership), store, "shop").value();
  }
  static std::vector<std::string> nodes(const MembersReport& report) {
    std::vector<std::string> all;
    for (const Member& member : report.list.members) all.push_back(member.node);
    return all;
  }
  easyretry::testing::ManualClock clock;
  storage::MemoryStore store{{}, clock};
};

TEST_F(ListMembers, InTheStoreUsesTheClockOfTheStore) {
  ASSERT_TRUE(store.beat({.name_space = "shop", .node = "a", .ttl = std::chrono::seconds{10}, .says = "64: 0-63"}));
  const MembersReport report = seen("store");
  EXPECT_THAT(nodes(report), ElementsAre("a"));
  EXPECT_EQ(report.source, "store");
  EXPECT_EQ(report.now, report.list.members[0].since);
}

TEST_F(ListMembers, OfAFixedListHasAllPlaces) {
  EXPECT_THAT(nodes(seen("static:1/3")), SizeIs(3));
  EXPECT_EQ(seen("static:1/3").source, "static");
  EXPECT_THAT(nodes(seen("alone")), IsEmpty());
}

TEST_F(ListMembers, InARegistryDoesNotJoinAndShowsTheRefused) {
  const test::FakeNacos server;
  const int shards = store.info().total_shards;
  const nacos::ServiceUrl url{.client = test::options_for({&server}), .service = {"orders"}};
  NacosMembership a{url, {"shop", shards}, "a"};
  NacosMembership stranger{url, {"bank", shards}, "x"};
  for (NacosMembership* one : {&a, &stranger}) {
    ASSERT_TRUE(test::eventually([&] { return one->refresh({"64: 0-63"}).has_value(); }));
  }
  const std::string port = std::to_string(server.address().grpc_port);
  const MembersReport report = seen("nacos://127.0.0.1/orders?grpc_port=" + port);
  EXPECT_THAT(nodes(report), ElementsAre("a"));
  EXPECT_EQ(report.list.members[0].says, "64: 0-63");
  EXPECT_THAT(report.list.refused, SizeIs(1));
  EXPECT_EQ(report.source, "nacos 127.0.0.1:8848, DEFAULT_GROUP@@orders");
  EXPECT_THAT(server.instances("orders"), SizeIs(2)) << "reading the list does not join";
}

}  // namespace
}  // namespace easyretry::cluster
