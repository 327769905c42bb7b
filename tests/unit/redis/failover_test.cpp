// A primary dies under load, shortly after its replica has lost the connection, and the replica takes over.

#include <atomic>
#include <mutex>
#include <thread>

#include <easyretry/easyretry.h>

#include "support/cutting_proxy.h"
#include "support/eventually.h"
#include "unit/redis/support.h"

namespace easyretry::storage {
namespace {

constexpr int kThreads = 4;
constexpr std::size_t kEnough = 1'000;
constexpr std::size_t kCutOff = 50;                       // calls that are still answered after that
constexpr const char* kPatient = "?wait=1&wait_ms=1000";  // enough for the replica on a busy machine

class RedisFailover : public ::testing::Test {
 protected:
  RedisFailover() {
    PlainRedis{replica.port()}.run({"REPLICAOF", "127.0.0.1", std::to_string(link.port())});
    const bool linked = test::eventually([&] {
      const std::string info = PlainRedis{replica.port()}.run({"INFO", "replication"});
      return info.find("master_link_status:up") != std::string::npos;
    });
    if (!linked) throw std::runtime_error("the replica does not come up");
  }

  // Stores tasks one by one until the primary is killed, some of them without the replica. Returns those that were
  // acknowledged.
  std::vector<TaskId> store_until_killed(const std::string& options) {
    const auto store = open_store(primary.url() + options, system_clock());
    std::mutex mutex;
    std::vector<TaskId> acknowledged;
    std::atomic<std::size_t> answers = 0;
    std::atomic<bool> killed = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (; !killed; ++answers) {
          const auto reply = insert(*store, a_task());
          const std::lock_guard lock{mutex};
          if (reply) acknowledged.push_back(reply->tasks[0].id);
        }
      });
    }
    EXPECT_TRUE(test::eventually([&] { return answers >= kEnough; }));
    link.freeze();
    const std::size_t before = answers;
    EXPECT_TRUE(test::eventually([&] { return answers >= before + kCutOff; }));
    primary.kill();
    killed = true;
    for (std::thread& thread : threads) thread.join();
    return acknowledged;
  }

  // How many acknowledged tasks are lost after the replica has been promoted.
  std::size_t lost(const std::vector<TaskId>& acknowledged) {
    PlainRedis{replica.port()}.run({"REPLICAOF", "NO", "ONE"});
    const auto store = open_store(replica.url(), system_clock());
    return acknowledged.size() - store->find(acknowledged).value().size();
  }

  DatabaseServer primary{ServerKind::redis};
  DatabaseServer replica{ServerKind::redis};
  test::CuttingProxy link{primary.port()};
};

TEST_F(RedisFailover, AWriteThatWaitedForAReplicaSurvives) {
  const auto acknowledged = store_until_killed("?wait=1&wait_ms=100");
  EXPECT_GE(acknowledged.size(), kEnough / 2);
  EXPECT_EQ(lost(acknowledged), 0U) << "of " << acknowledged.size();
}

TEST_F(RedisFailover, WithoutWaitingWritesThatTheReplicaLacksAreLostAndTheStoreContinues) {
  const auto acknowledged = store_until_killed("");
  const std::size_t gone = lost(acknowledged);
  std::cout << gone << " of " << acknowledged.size() << " acknowledged tasks lost\n";
  EXPECT_GT(gone, 0U);
  const auto store = open_store(replica.url(), system_clock());
  EXPECT_TRUE(insert(*store, a_task()));
  EXPECT_THAT(loaded(*store), Not(IsEmpty()));
}

// The first call writes. The next ones meet the task, as those of an engine do that checks what is in doubt.
TEST_F(RedisFailover, ATaskThatNoReplicaHasIsNotAcknowledgedToADuplicateEither) {
  const std::string url = primary.url() + kPatient;
  const task::NewTask task = a_task().key("pay:1");
  const std::shared_ptr<Store> first = open_store(url, system_clock());
  stored(*first, a_task());
  link.freeze();
  for (const auto& store : {first, std::shared_ptr{open_store(url, system_clock())}}) {
    const auto reply = insert(*store, task);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Errc::in_doubt);
    EXPECT_EQ(store->count({.key = "pay:1"}).value(), 1);
  }
}

TEST_F(RedisFailover, AnEngineAcknowledgesNothingThatNoReplicaHas) {
  EngineOptions options;
  options.log = nullptr;
  Engine engine{primary.url() + kPatient, options};
  const auto work = engine.retryable("work", [](int) {});
  EXPECT_NO_THROW(work.submit(1));
  link.freeze();
  for (int i = 0; i < 2; ++i) {
    try {
      work.submit(2);
      ADD_FAILURE() << "acknowledged";
    } catch (const StoreError& error) {
      EXPECT_EQ(error.code(), Errc::in_doubt);
    }
  }
  EXPECT_NO_THROW(Engine(primary.url(), options).retryable("work", [](int) {}).submit(2)) << "without waiting, it is";
}

TEST_F(RedisFailover, AnEngineRunsNothingThatNoReplicaKnowsToBeClaimed) {
  EngineOptions options;
  options.log = nullptr;
  Engine engine{primary.url() + kPatient, options};
  std::atomic<int> runs{0};
  const auto work = engine.retryable("work", [&](int) { ++runs; });
  const TaskId id = work.submit(1);
  link.freeze();
  engine.start();
  ASSERT_TRUE(test::eventually([&] { return engine.find(id)->state == TaskState::running; }));
  ASSERT_TRUE(test::eventually([&] { return engine.stats().store_errors >= 3; })) << "the claim is checked again";
  EXPECT_EQ(runs, 0);
  link.thaw();
  EXPECT_TRUE(test::eventually([&] { return runs == 1; }));
}

}  // namespace
}  // namespace easyretry::storage
