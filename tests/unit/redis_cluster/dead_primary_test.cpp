// A primary is dead and no replica has taken over: tasks in other slots continue.

#include <mutex>
#include <numeric>
#include <set>

#include <easyretry/easyretry.h>

#include "unit/redis_cluster/support.h"

namespace easyretry::storage {
namespace {

class RedisClusterDeadPrimary : public ::testing::Test {
 protected:
  RedisClusterDeadPrimary() { cluster.order({"CONFIG", "SET", "cluster-replica-no-failover", "yes"}); }
  void let_the_replica_take_over() {
    cluster.order({"CONFIG", "SET", "cluster-node-timeout", "2000"});
    cluster.order({"CONFIG", "SET", "cluster-replica-no-failover", "no"});
    ASSERT_TRUE(test::eventually([&] { return cluster.whole(); }, 60s));
  }

  DatabaseServer server{ServerKind::redis_cluster};
  const RedisCluster cluster{server.port()};
  const std::string url = server.url() + "&shards=2&tags=6&wait=1&wait_ms=500";
};

TEST_F(RedisClusterDeadPrimary, DoesNotPreventStoringLoadingAndClaimingInOtherSlots) {
  const auto store = open_store(url, system_clock());
  const RedisCluster::Node dead = a_primary_of_tasks(cluster);
  std::vector<Ticket> tickets;
  for (int i = 0; i < 4; ++i) tickets.push_back(stored(*store, a_task_on(dead, "easyretry", i % 2 == 0)));
  cluster.kill(dead.port);

  EXPECT_EQ(insert(*store, a_task_on(dead, "easyretry")).error().code, Errc::unavailable);
  EXPECT_TRUE(insert(*store, a_task_on(dead, "easyretry", false)));

  const ShardCursor shards[] = {{ShardId{0}}, {ShardId{1}}};
  const auto due = store->load({.name_space = test::kNamespace, .from = shards}).value();
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
  const RedisCluster::Node dead = a_primary_of_tasks(cluster);
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

// An engine with tasks in all slots, due in a moment.
class RedisClusterEngine : public RedisClusterDeadPrimary {
 protected:
  RedisClusterEngine() {
    engine.start();
    std::vector<int> numbers(kTasks);
    std::iota(numbers.begin(), numbers.end(), 0);
    const TimePoint due = system_clock().now() + 3s;
    work.submit_many(numbers, [&](int number) { return SubmitOptions{.key = key(number), .due_at = due}; });
    for (const int number : numbers) {
      if (!gone.has(slot_of_key("easyretry", key(number), kTags, "default"))) elsewhere.insert(number);
    }
  }
  static constexpr std::size_t kTasks = 300;
  static std::string key(int number) { return "task-" + std::to_string(number); }
  static EngineOptions options() {
    EngineOptions options;
    options.window = 1s;
    return options;
  }
  std::multiset<int> runs() {
    const std::lock_guard lock{mutex};
    return all_runs;
  }
  void expect_only_others_to_run() {
    ASSERT_THAT(elsewhere.size(), AllOf(::testing::Gt(100U), ::testing::Lt(kTasks)));
    const std::multiset<int> wanted{elsewhere.begin(), elsewhere.end()};
    EXPECT_TRUE(test::eventually([&] { return runs().size() >= wanted.size(); }, 60s));
    EXPECT_EQ(runs(), wanted);
  }
  void expect_all_to_have_run_once() {
    EXPECT_TRUE(test::eventually([&] { return runs().size() >= kTasks; }, 60s));
    engine.stop();
    EXPECT_EQ(runs().size(), kTasks) << "none of them twice";
  }

  const RedisCluster::Node gone = a_primary_of_tasks(cluster);
  std::set<int> elsewhere;  // numbers of tasks that are not in its slots
  std::mutex mutex;
  std::multiset<int> all_runs;  // guarded by mutex
  Engine engine{url, options()};
  const Retryable<void, std::tuple<int>> work = engine.retryable("work", [this](int number) {
    const std::lock_guard lock{mutex};
    all_runs.insert(number);
  });
};

TEST_F(RedisClusterEngine, RunsTheTasksOfOtherSlotsWhileAPrimaryIsDeadAndTheRestAfterwards) {
  cluster.kill(gone.port);
  expect_only_others_to_run();
  let_the_replica_take_over();
  expect_all_to_have_run_once();
}

TEST_F(RedisClusterEngine, RunsTheTasksOfOtherSlotsWhileAPrimarySaysNothingAndTheRestAfterwards) {
  cluster.freeze(gone.port, [this] { expect_only_others_to_run(); });
  expect_all_to_have_run_once();
}

}  // namespace
}  // namespace easyretry::storage
