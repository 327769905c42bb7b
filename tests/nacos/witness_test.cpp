// The official Nacos client, in Java, beside ours. Each must see what the other registers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/nacos/nacos_membership.h"
#include "fault/child.h"
#include "nacos/real_nacos.h"
#include "support/eventually.h"
#include "support/temp_folder.h"
#include "unit/nacos/recorder.h"

namespace easyretry::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class NacosOwnClient : public OnEachNacos {
 protected:
  std::unique_ptr<cluster::NacosMembership> join(const std::string& options) {
    auto url =
        nacos::parse_service_url("nacos://nacos:nacos@127.0.0.1:" + std::to_string(port) + "/" + service + options);
    url.client.log = [](LogLevel, std::string_view) {};
    return std::make_unique<cluster::NacosMembership>(url, cluster::SharedSettings{"shop", 64}, "node-a");
  }
  // The first line with the text, or "" if none comes for a long time.
  std::string line_with(const std::string& text) {
    for (int silences = 0; silences < 5;) {
      const std::string line = witness.read_line();
      if (line.find(text) != line.npos) return line;
      if (line.empty()) ++silences;  // Maven may be downloading the client
    }
    return {};
  }
  std::string line_without(const std::string& text) {
    for (std::string line = "-"; !line.empty(); line = witness.read_line()) {
      if (line != "-" && line.find(text) == line.npos) return line;
    }
    return {};
  }

  const int port = shared_server(GetParam());
  const std::string service = unique_name();
  const TempFolder folder;
  fault::Child witness{WITNESS, {std::to_string(port), service, folder.path().string()}};
};
ON_EACH_NACOS(NacosOwnClient);

TEST_P(NacosOwnClient, SeesOurMembersWithTheirMetadataAndWeSeeIt) {
  const auto ours = join("?ip=10.0.0.1&port=7070");
  ASSERT_TRUE(eventually([&] { return ours->refresh({.says = "64: 0-63"}).has_value(); }));
  const std::string seen = line_with("10.0.0.1:7070");
  for (const char* part : {"nodeId=node-a", "space=shop", "totalShards=64", "shards=64: 0-63", "version=", "epoch="}) {
    EXPECT_THAT(seen, HasSubstr(part));
  }
  EXPECT_TRUE(eventually([&] {
    const auto roll = ours->refresh({.says = "64: 0-63"});
    return roll && roll->members.size() == 1 && roll->refused.size() == 1 && roll->refused[0].who == "10.0.0.9:80";
  })) << "it is seen, and is no member";
  nacos::NamingClient client{options_for(port)};
  Recorder<nacos::ServiceView> told;
  const auto subscription = client.subscribe({service}, told.listener());
  ASSERT_TRUE(eventually([&] { return addresses(told) == "10.0.0.1:7070 10.0.0.9:80"; }));
  EXPECT_EQ(told.last()->instances[1].metadata.at("by"), "witness");

  ours->refresh({.says = "32: every 2nd from 0"});
  EXPECT_THAT(line_with("shards=32: every 2nd from 0"), HasSubstr("nodeId=node-a"));
  ours->leave();
  EXPECT_THAT(line_without("10.0.0.1:7070"), HasSubstr("10.0.0.9:80"));
  witness.kill();
  EXPECT_TRUE(eventually([&] { return addresses(told).empty(); }));
}

TEST_P(NacosOwnClient, SeesMembersThatSpeakHttp) {
  const auto ours = join("?ip=10.0.0.1&port=7070&transport=http");
  ASSERT_TRUE(eventually([&] { return ours->refresh({.says = "64: 0-63"}).has_value(); }));
  EXPECT_THAT(line_with("10.0.0.1:7070"), HasSubstr("nodeId=node-a"));
  ours->leave();
  EXPECT_THAT(line_without("10.0.0.1:7070"), HasSubstr("10.0.0.9:80"));
}

}  // namespace
}  // namespace easyretry::test
