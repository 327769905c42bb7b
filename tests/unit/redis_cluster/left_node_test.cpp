// A server that is no primary any more, and still runs.

#include <algorithm>

#include "unit/redis_cluster/support.h"

namespace easyretry::storage {
namespace {

class RedisClusterLeftNode : public ::testing::Test {
 protected:
  // Nodes of a new cluster hear of each other's roles after a while, and vote for a replica that they know.
  bool all_know_the_replicas() const {
    return std::ranges::all_of(cluster.nodes(), [](const RedisCluster::Node& node) {
      return mentions("slave", PlainRedis{node.port}.run({"CLUSTER", "NODES"})) == 3;
    });
  }
  // A replica takes over, as an administrator does it before a machine is removed.
  void replace(const RedisCluster::Node& primary) const {
    ASSERT_TRUE(test::eventually([&] { return all_know_the_replicas() && cluster.whole(); }, 60s));
    const std::string replica =
        PlainRedis{primary.port}.run({"CLUSTER", "REPLICAS", primary.id});  // id host:port@bus …
    const int port = std::stoi(replica.substr(replica.find(':') + 1));
    PlainRedis{port}.run({"CLUSTER", "FAILOVER"});
    const int slot = primary.slots.at(0).first;
    ASSERT_TRUE(test::eventually([&] { return cluster.owner_of(slot).port == port && cluster.whole(); }, 60s));
  }
  // Connections of stores have a name.
  static int connections_with(const RedisCluster::Node& node) {
    return mentions("name=easyretry", PlainRedis{node.port}.run({"CLIENT", "LIST"}));
  }
  static int mentions(const std::string& what, const std::string& text) {
    int found = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  }

  DatabaseServer server{ServerKind::redis_cluster};
  const RedisCluster cluster{server.port()};
};

TEST_F(RedisClusterLeftNode, IsNotAskedForItsFormerSlotsAndNoConnectionToItIsKept) {
  const auto store = open_store(server.url() + "&shards=2&tags=6", system_clock());
  const RedisCluster::Node former = a_primary_of_tasks(cluster);
  const task::NewTask task = a_task_on(former, "easyretry");
  stored(*store, task);
  EXPECT_GT(connections_with(former), 0);
  replace(former);
  EXPECT_FALSE(insert(*store, task).value().tasks.at(0).created) << "a slot that was used before";
  for (int i = 0; i < 20; ++i) stored(*store, a_task_on(former, "easyretry"));
  EXPECT_TRUE(test::eventually([&] { return connections_with(former) == 0; })) << connections_with(former);
  EXPECT_THAT(loaded(*store), SizeIs(21));
}

}  // namespace
}  // namespace easyretry::storage
