#include "cluster/nacos/nacos_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const SharedSettings kOurs{"shop", 64};

nacos::Instance instance_of(const std::string& node, const SharedSettings& settings = kOurs) {
  nacos::Instance instance{.ip = "10.0.0.1", .port = 7070};
  write_metadata(instance, settings, {node, TimePoint{1761000000000ms}, "64: 0-63"});
  return instance;
}

MemberList list_of(const std::vector<nacos::Instance>& instances) {
  return read_members({.service = {}, .instances = instances}, kOurs);
}

std::vector<std::string> nodes(const std::vector<Member>& members) {
  std::vector<std::string> all;
  for (const Member& member : members) all.push_back(member.node);
  return all;
}

TEST(NacosMetadata, IsReadAsItWasWritten) {
  const MemberList roll = list_of({instance_of("a")});
  EXPECT_THAT(roll.members, ElementsAre(Member{"a", TimePoint{1761000000000ms}, "64: 0-63"}));
  EXPECT_THAT(roll.refused, IsEmpty());
}

TEST(NacosMetadata, HasTheHandlersOfAMemberIfTheyFit) {
  const auto with = [](std::vector<std::string> handlers, bool& told) {
    nacos::Instance instance{.ip = "10.0.0.1", .port = 7070};
    told = write_metadata(instance, kOurs, {"a", TimePoint{1761000000000ms}, "64: 0-63", std::move(handlers)});
    std::size_t length = 0;
    for (const auto& [key, value] : instance.metadata) length += key.size() + value.size();
    EXPECT_LE(length, kMostMetadata);
    return list_of({instance}).members.at(0).handlers;
  };
  bool told = false;
  EXPECT_EQ(with({"mail", "pay"}, told), (std::vector<std::string>{"mail", "pay"}));
  EXPECT_TRUE(told);
  EXPECT_EQ(with({std::string(500, 'a'), std::string(500, 'b')}, told), std::nullopt);
  EXPECT_FALSE(told);
}

TEST(NacosMetadata, HasEachNodeOnceAlsoAtOneAddress) {
  EXPECT_THAT(nodes(list_of({instance_of("b"), instance_of("a"), instance_of("a")}).members), ElementsAre("a", "b"));
}

TEST(NacosMetadata, LeavesOutInstancesThatTakeNoTraffic) {
  auto unhealthy = instance_of("a");
  unhealthy.healthy = false;
  const MemberList roll = list_of({unhealthy, instance_of("b")});
  EXPECT_THAT(nodes(roll.members), ElementsAre("b"));
  EXPECT_THAT(roll.refused, IsEmpty());
}

struct Stranger {
  nacos::Instance instance;
  const char* who;
  const char* why;
};

TEST(NacosMetadata, RefusesForeignInstancesAndKeepsTheOthers) {
  nacos::Instance no_shards = instance_of("x");
  no_shards.metadata.erase("totalShards");
  for (const Stranger& stranger : {
           Stranger{{.ip = "10.0.0.9", .port = 80}, "10.0.0.9:80", "it is not an EasyRetry instance"},
           Stranger{no_shards, "x at 10.0.0.1:7070", "it is not an EasyRetry instance"},
           Stranger{instance_of("x", {"shop", 32}), "x at 10.0.0.1:7070",
                    "its store has 32 shards, but that of this instance has 64"},
           Stranger{instance_of("x", {"bank", 64}), "x at 10.0.0.1:7070",
                    "its namespace is \"bank\", but that of this instance is \"shop\""},
       }) {
    const MemberList roll = list_of({instance_of("a"), stranger.instance});
    EXPECT_THAT(nodes(roll.members), ElementsAre("a"));
    ASSERT_THAT(roll.refused, SizeIs(1)) << stranger.why;
    EXPECT_EQ(roll.refused[0].who, stranger.who);
    EXPECT_THAT(roll.refused[0].why, HasSubstr(stranger.why));
    EXPECT_THAT(roll.refused[0].why, HasSubstr("its own service name"));
  }
}

class RejoinGraceTest : public ::testing::Test {
 protected:
  std::vector<std::string> list(const std::vector<std::string>& reported, std::uint64_t connection, Millis at) {
    std::vector<Member> members;
    for (const std::string& node : reported) members.push_back({.node = node});
    return nodes(back.list(std::move(members), connection, Instant{} + 1h + at));
  }
  RejoinGrace back{5s};
};

TEST_F(RejoinGraceTest, OnOneConnectionAListIsUsedAsItIs) {
  EXPECT_THAT(list({"a", "b"}, 1, 0s), ElementsAre("a", "b"));
  EXPECT_THAT(list({"a"}, 1, 1s), ElementsAre("a"));
}

TEST_F(RejoinGraceTest, AMemberOfTheNewConnectionMayLeave) {
  list({"a"}, 1, 0s);
  list({"a", "b"}, 2, 60s);
  EXPECT_THAT(list({"a"}, 2, 61s), ElementsAre("a"));
}

TEST_F(RejoinGraceTest, AfterANewConnectionMissingMembersAreKept) {
  list({"a", "b", "c"}, 1, 0s);
  EXPECT_THAT(list({"a"}, 2, 60s), ElementsAre("a", "b", "c"));
  EXPECT_THAT(list({"a", "b"}, 2, 64999ms), ElementsAre("a", "b", "c"));
  EXPECT_THAT(list({"a", "b"}, 2, 65s), ElementsAre("a", "b"));
}

TEST_F(RejoinGraceTest, ANewMemberIsListedAtOnce) {
  list({"a"}, 1, 0s);
  EXPECT_THAT(list({"b"}, 2, 60s), ElementsAre("b", "a"));
}

}  // namespace
}  // namespace easyretry::cluster
