// A Redis Cluster under load, whose primaries die and whose slots move.

#include "support/redis_cluster.h"

#include <iostream>

#include <gtest/gtest.h>

#include "fault/verdict.h"
#include "storage/open.h"
#include "storage/redis/topology.h"
#include "support/database_server.h"
#include "support/eventually.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;

constexpr int kTasksPerLife = 1'200;
constexpr int kProcesses = 2;
constexpr std::size_t kTasks = kProcesses * kTasksPerLife;
constexpr int kTags = 12;

class RedisClusterUnderLoad : public ::testing::Test {
 protected:
  void start() {
    for (int i = 0; i < kProcesses; ++i) crew_.start(kTasksPerLife);
  }
  Verdict expect_kept_promises(std::size_t events) {
    EXPECT_TRUE(test::eventually([&] { return crew_.submitted() == kTasks && all_done(*store_); }, 120s));
    crew_.kill_all();
    const Verdict verdict = judge(*store_, crew_);
    EXPECT_GE(verdict.acked, kTasks / 4);
    std::cout << events << " times: " << verdict << "\n";
    return verdict;
  }
  // As many attempts as the handler needs (kill_worker.cpp), and one more for each expired lease.
  std::size_t executions_wanted() {
    std::size_t wanted = 0;
    const auto ended = store_->list({.name_space = "default", .finished = true, .limit = 2 * kTasks}).value();
    for (const auto& record : ended) {
      const int number = std::stoi(record.info.key.substr(5));
      wanted += number % 10 == 0 ? 3 : number % 10 == 1 ? 2 : 1;
      wanted += static_cast<std::size_t>(record.info.crashes);
    }
    return wanted;
  }

  test::DatabaseServer server_{test::ServerKind::redis_cluster};
  const test::RedisCluster cluster_{server_.port()};
  // With wait=1, what was acknowledged is on the replica that takes over.
  const std::string url_ = server_.url() + "&wait=1&wait_ms=500";
  const std::unique_ptr<storage::Store> store_ = storage::open_store(url_, system_clock());
  Crew crew_{url_};
  Dice dice_;
};

TEST_F(RedisClusterUnderLoad, LosesNothingWhenPrimariesAreKilledAndReplicasTakeOver) {
  SCOPED_TRACE(dice_.trace());
  constexpr std::size_t kKills = 3;
  cluster_.order({"CONFIG", "SET", "cluster-node-timeout", "2000"});
  start();
  for (std::size_t i = 0; i < kKills; ++i) {
    const std::size_t moment = i * kTasks / kKills + dice_.up_to(kTasks / kKills / 2);
    ASSERT_TRUE(test::eventually([&] { return crew_.submitted() >= moment; }, 60s)) << "nothing goes on";
    const auto primaries = cluster_.primaries();
    const int victim = primaries.at(dice_.up_to(primaries.size() - 1)).port;
    cluster_.kill(victim);
    ASSERT_TRUE(test::eventually([&] { return cluster_.whole(); }, 60s)) << "no replica takes over";
    cluster_.order({"CONFIG", "SET", "cluster-node-timeout", "2000"});  // also on the one that is back
  }
  expect_kept_promises(kKills);
}

TEST_F(RedisClusterUnderLoad, LosesNothingAndRunsNothingTwiceWhileSlotsMove) {
  SCOPED_TRACE(dice_.trace());
  start();
  std::size_t moves = 0;
  const auto tags = storage::redis::spread_tags("easyretry", kTags);
  while (moves < tags.size() || crew_.submitted() < kTasks) {
    const int slot = storage::redis::slot_of(tags[moves++ % tags.size()]);
    const auto primaries = cluster_.primaries();
    ASSERT_NO_THROW(cluster_.move(slot, primaries.at(dice_.up_to(primaries.size() - 1))));
  }
  const Verdict verdict = expect_kept_promises(moves);
  EXPECT_LE(verdict.executions, executions_wanted());
}

}  // namespace
}  // namespace easyretry::fault
