// A primary is dead and nobody takes its place for now: what is not in its slots goes on.

#include <atomic>
#include <set>

#include <easyretry/easyretry.h>

#include "unit/redis_cluster/support.h"

namespace easyretry::storage {
namespace {

class RedisClusterDeadPrimary : public ::testing::Test {
 protected:
  RedisClusterDeadPrimary() { cluster.order({"CONFIG", "SET", "cluster-replica-no-failover", "yes"}); }
  // One that has tasks, and not what all of the store needs.
  RedisCluster::Node victim() const {
    for (const auto& node : cluster.primaries()) {
      if (!node.has(redis::slot_of("easyretry"))) return node;
    }
    throw std::runtime_error("there is one primary alone");
  }
  void let_the_replica_take_over() {
    cluster.order({"CONFIG", "SET", "cluster-node-timeout", "2000"});
    cluster.order({"CONFIG", "SET", "cluster-replica-no-failover", "no"});
    ASSERT_TRUE(test::eventually([&] { return cluster.whole(); }, 60s));
  }

  DatabaseServer server{ServerKind::redis_cluster};
  const RedisCluster cluster{server.port()};
  const std::string url = server.url() + "&shards=2&tags=6&wait=1&wait_ms=500";
};

TEST_F(RedisClusterDeadPrimary, KeepsNobodyFromStoringLoadingAndClaimingWhatIsInOtherSlots) {
  const auto store = open_store(url, system_clock());
  const RedisCluster::Node dead = victim();
  std::vector<Ticket> tickets;
  for (int i = 0; i < 4; ++i) tickets.push_back(stored(*store, a_task_on(dead, "easyretry", i % 2 == 0)));
  cluster.kill(dead.port);

  EXPECT_EQ(insert(*store, a_task_on(dead, "easyretry")).error().code, Errc::unavailable);
  EXPECT_TRUE(insert(*store, a_task_on(dead, "easyretry", false)));

  const ShardCursor shards[] = {{ShardId{0}}, {ShardId{1}}};
  const auto due = store->load({.space = test::kSpace, .from = shards}).value();
  EXPECT_THAT(due.tasks, SizeIs(3)) << "two that wait and the new one";
  ASSERT_TRUE(due.trouble);
  EXPECT_EQ(due.trouble->code, Errc::unavailable);

  const auto won = store->claim({tickets, "worker", 30s}).value();
  EXPECT_THAT(won.won, SizeIs(2));
  EXPECT_TRUE(won.trouble);
  EXPECT_FALSE(store->list({})) << "a list without some would be wrong";
}

TEST_F(RedisClusterDeadPrimary, LeavesSettlementsUnansweredThatItsReplicaAppliesLater) {
  const auto store = open_store(url, system_clock());
  const RedisCluster::Node dead = victim();
  std::vector<Settlement> ends(4);
  std::vector<Renewal> renewals;
  for (std::size_t i = 0; i < ends.size(); ++i) {  // the first and the third there
    const TaskRecord held = claimed(*store, {stored(*store, a_task_on(dead, "easyretry", i % 2 == 0))}).at(0);
    ends[i].ticket = {held.info.id, held.info.version};
    renewals.push_back({ends[i].ticket, 30s});
  }
  cluster.kill(dead.port);

  EXPECT_THAT(store->renew(renewals).value().unanswered, ElementsAre(0, 2));
  const auto settled = store->settle(ends).value();
  EXPECT_THAT(settled.unanswered, ElementsAre(0, 2));
  EXPECT_THAT(settled.applied, ElementsAre(false, true, false, true));
  EXPECT_TRUE(settled.trouble);
  EXPECT_FALSE(store->settle({ends.data(), 1})) << "one alone fails";

  let_the_replica_take_over();
  EXPECT_TRUE(test::eventually([&] {
    const auto again = store->settle(ends);
    return again && again->unanswered.empty();
  }));
  EXPECT_EQ(store->count({.finished = true}).value(), 4);
}

TEST_F(RedisClusterDeadPrimary, AnEngineRunsTheTasksOfOtherSlotsMeanwhileAndTheRestAfterwardsEachOnce) {
  constexpr int kTasks = 300;
  EngineOptions options;
  options.window = 1s;
  Engine engine{url, options};
  std::mutex mutex;
  std::multiset<int> runs;
  const auto work = engine.retryable("work", [&](int number) {
    const std::lock_guard lock{mutex};
    runs.insert(number);
  });
  engine.start();
  const RedisCluster::Node dead = victim();
  const TimePoint due = system_clock().now() + 3s;
  std::vector<int> numbers(kTasks);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto key = [](int number) { return "task-" + std::to_string(number); };
  work.submit_many(numbers, [&](int number) { return SubmitOptions{.key = key(number), .due_at = due}; });
  std::set<int> elsewhere;
  for (const int number : numbers) {
    if (!dead.has(slot_of_key("easyretry", key(number), kTags, "default"))) elsewhere.insert(number);
  }
  ASSERT_GT(elsewhere.size(), 100U);
  ASSERT_LT(elsewhere.size(), 290U);
  cluster.kill(dead.port);
  const auto ran = [&] {
    const std::lock_guard lock{mutex};
    return std::set<int>(runs.begin(), runs.end());
  };
  EXPECT_TRUE(test::eventually([&] { return ran() == elsewhere; }, 60s)) << ran().size() << " of " << elsewhere.size();

  let_the_replica_take_over();
  EXPECT_TRUE(test::eventually([&] { return ran().size() == kTasks; }, 60s));
  engine.stop();
  const std::lock_guard lock{mutex};
  EXPECT_EQ(runs.size(), static_cast<std::size_t>(kTasks)) << "none of them twice";
}

}  // namespace
}  // namespace easyretry::storage
