// Processes that come and go, and meet in a Nacos that goes and comes: the shards are shared, and nothing is lost.

#include <csignal>
#include <iostream>

#include <gtest/gtest.h>

#include "fault/registry.h"
#include "fault/verdict.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "support/test_database.h"

namespace easyretry::fault {
namespace {

using test::eventually;

constexpr int kTasksPerLife = 1000;

class NacosMembers : public ::testing::Test {
 protected:
  void expect_equal_shares(int processes, const std::string& after) {
    fault::expect_equal_shares(
        processes, [this] { return registry_.members(); }, after);
  }

  test::OwnNacos nacos_{"nacos3"};
  Registry registry_{nacos_.port()};
  const test::TestDatabase database_{test::ServerKind::postgres};
  const std::unique_ptr<storage::Store> store_ = storage::open_store(database_.url(), system_clock());
  // All at one address: they are told apart by their names.
  Crew crew_{database_.url(), {{"EASYRETRY_MEMBERSHIP", registry_.url("?ip=10.0.0.1&port=7070")}}};
};

TEST_F(NacosMembers, ShareTheShardsThroughKillsStopsAndALostRegistryAndNothingIsLost) {
  crew_.start_some(4, kTasksPerLife);
  expect_equal_shares(4, "started 4");
  crew_.kill_oldest(1);
  expect_equal_shares(3, "killed 1");
  crew_.start_some(2, kTasksPerLife);
  expect_equal_shares(5, "started 2");

  const int stopped = crew_.alive().front();
  crew_.stop(stopped);
  expect_equal_shares(4, "stopped 1, until the registry misses it");
  crew_.go_on(stopped);
  expect_equal_shares(5, "continued it");

  nacos_.kill();
  const int late = crew_.start(kTasksPerLife);
  EXPECT_TRUE(eventually([&] { return crew_.submitted_by(late) == kTasksPerLife; }, std::chrono::seconds{60}))
      << "one that starts without it works";
  crew_.kill_oldest(1);
  nacos_.start();
  expect_equal_shares(5, "restarted the registry, 1 killed and 1 started meanwhile");

  crew_.kill_oldest(3);
  expect_equal_shares(2, "killed 3");
  ASSERT_TRUE(crew_.finish());
  std::cout << judge(*store_, crew_) << "\n";
}

}  // namespace
}  // namespace easyretry::fault
