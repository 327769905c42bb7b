// Processes that come and go, and meet in a Nacos that goes and comes: the shards are shared, and nothing is lost.

#include <csignal>
#include <iostream>

#include <gmock/gmock.h>

#include "cluster/nacos_roll.h"
#include "fault/equal_shares.h"
#include "fault/verdict.h"
#include "nacos/naming_client.h"
#include "nacos/real_nacos.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "support/test_database.h"

namespace easyretry::fault {
namespace {

using test::eventually;

constexpr int kTasksPerLife = 1000;
constexpr std::chrono::seconds kLong{90};  // a silent process is missed after 28 s, a server takes 30 s to start

class NacosMembers : public ::testing::Test {
 protected:
  void start(int processes) {
    for (int i = 0; i < processes; ++i) crew_.start(kTasksPerLife);
  }
  void kill(int processes) {
    for (int i = 0; i < processes; ++i) crew_.kill(crew_.alive().front());
  }

  // As the registry shows them to others; nothing while it does not answer.
  std::vector<Member> members() {
    const auto view = witness_.query(service_);
    return view ? cluster::call_roll(*view, {"default", kShards}).members : std::vector<Member>{};
  }
  void expect_equal_shares(int processes, const std::string& after) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(eventually([&] { return shares_of(members()) == equal_shares(processes); }, kLong))
        << processes << " processes have " << ::testing::PrintToString(shares_of(members()));
    const auto took = std::chrono::steady_clock::now() - begin;
    std::cout << after << ": " << std::chrono::duration_cast<Millis>(took).count() << " ms until " << processes
              << " have equal shares\n";
  }

  test::OwnNacos registry_{"nacos3"};
  const nacos::ServiceName service_{test::unique_name()};
  nacos::NamingClient witness_{test::options_for(registry_.port())};
  const test::TestDatabase database_{test::ServerKind::postgres};
  const std::unique_ptr<storage::Store> store_ = storage::open_store(database_.url(), system_clock());
  // All at one address: they are told apart by their names.
  Crew crew_{database_.url(), "nacos://nacos:nacos@127.0.0.1:" + std::to_string(registry_.port()) + "/" +
                                  service_.name + "?ip=10.0.0.1&port=7070"};
};

TEST_F(NacosMembers, ShareTheShardsThroughKillsStopsAndALostRegistryAndNothingIsLost) {
  start(4);
  expect_equal_shares(4, "started 4");
  kill(1);
  expect_equal_shares(3, "killed 1");
  start(2);
  expect_equal_shares(5, "started 2");

  const auto stopped = crew_.member(crew_.alive().front()).pid();
  ::kill(stopped, SIGSTOP);
  expect_equal_shares(4, "stopped 1, until the registry misses it");
  ::kill(stopped, SIGCONT);
  expect_equal_shares(5, "continued it");

  registry_.kill();
  start(1);
  const int late = crew_.lives() - 1;
  EXPECT_TRUE(eventually([&] { return crew_.submitted_by(late) == kTasksPerLife; }, kLong))
      << "one that starts without it works";
  kill(1);
  registry_.start();
  expect_equal_shares(5, "restarted the registry, 1 killed and 1 started meanwhile");

  kill(3);
  expect_equal_shares(2, "killed 3");
  crew_.kill_all();
  ASSERT_TRUE(crew_.finish());
  const Verdict verdict = judge(*store_, crew_);
  std::cout << crew_.deaths().size() << " kills: " << verdict << "\n";
}

}  // namespace
}  // namespace easyretry::fault
