// An instance behind a wire that swallows everything: cut off from the database, from the registry, from both, and back
// again. The others do its work where they should, and nothing is lost.

#include <iostream>
#include <limits>

#include <gtest/gtest.h>

#include "cluster/membership.h"
#include "cluster/nacos/nacos_membership.h"
#include "fault/bounds.h"
#include "fault/each_server.h"
#include "fault/load.h"
#include "fault/registry.h"
#include "fault/separate_network.h"
#include "fault/starvation.h"
#include "fault/verdict.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "support/test_database.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;
using Wire = std::unique_ptr<SeparateNetwork::Wire>;

constexpr Millis kLease{3000};
constexpr Millis kGrace{2000};
// Claims of others may have to wait for what it has locked; a server frees that after 3 s, which it looks at once a
// second.
constexpr Millis kLocksFreed{4000};
// After a cut or its end TCP tries again in pauses that grow, and connections that hang are given up.
constexpr std::chrono::seconds kLong{60};

// Three instances, of which one is elsewhere.
class OneElsewhere : public OnEachServer {
 protected:
  void start(Variables here, Variables there) {
    here["EASYRETRY_LEASE"] = std::to_string(kLease.count()) + "ms";
    here["SLOW_MILLIS"] = "300";  // so that some are running when the wire is cut
    here["EASYRETRY_GRACE"] = std::to_string(kGrace.count()) + "ms";
    there["MACHINE_NAME"] = "elsewhere";
    crew_.emplace(database_.url(), std::move(here));
    load_.emplace(database_.url(), *crew_);
    ends_.emplace(*crew_);
    crew_->start_some(2, 1);
    far_ = crew_->start(1, {from_there(database_.url()), std::move(there), network_.entrance()});
  }

  std::string from_there(std::string url) {
    const int port = test::shared_server_port(GetParam());
    const std::string here = "127.0.0.1:" + std::to_string(port);
    const std::string there = to_database_->host() + ":" + std::to_string(to_database_->connect(port));
    return url.replace(url.find(here), here.size(), there);
  }

  int ended_elsewhere() { return ends_->by_life(0, std::numeric_limits<int>::max())[far_]; }
  void expect_work_elsewhere(const std::string& when) {
    const int before = ended_elsewhere();
    EXPECT_TRUE(test::eventually([&] { return ended_elsewhere() > before + kShards; }, kLong)) << when;
  }

  // How long what it had begun takes is printed and not judged.
  Millis served_after() { return time_takeover(*load_, *ends_).served; }

  void expect_nothing_lost() {
    load_->end();
    ASSERT_TRUE(test::eventually([&] { return all_done(*store_); }, kLong));
    crew_->kill_all();
    std::cout << judge(*store_, *crew_) << "\n";
  }

  const test::TestDatabase database_{GetParam()};
  const std::unique_ptr<storage::Store> store_ = storage::open_store(database_.url(), system_clock());
  SeparateNetwork network_;
  const Wire to_database_ = network_.wire();
  std::optional<Crew> crew_;
  std::optional<SteadyLoad> load_;
  std::optional<Ends> ends_;
  const Starvation starvation_;
  int far_ = 0;
};

class SilentNetwork : public OneElsewhere {
 protected:
  void expect_equal_shares(int processes, const std::string& after) {
    fault::expect_equal_shares(processes, members_in(*store_), after);
  }
};
ON_EACH_SERVER(SilentNetwork);

TEST_P(SilentNetwork, TakesAnInstanceFromTheDatabaseAndTheOthersHaveItsShardsUntilItIsBack) {
  start({}, {});
  expect_equal_shares(3, "started 3");
  expect_work_elsewhere("before the cut");
  to_database_->cut();
  const auto traits = cluster::StoreMembership{*store_, "default", "nobody", kLease}.traits();
  const Millis served = served_after();
  EXPECT_LE(served, takeover(kLease, detection(traits)) + kLocksFreed + starvation_.longest());
  expect_equal_shares(2, "cut 1 off");
  to_database_->heal();
  expect_equal_shares(3, "healed");
  expect_work_elsewhere("after the cut");
  expect_nothing_lost();
}

class SilentNetworkOfNacos : public OneElsewhere {
 protected:
  void start() {
    const std::string options = "?transport=grpc&grpc_port=" + std::to_string(to_registry_->connect(nacos_ + 1000));
    const std::string far_registry = registry_.url_at(to_registry_->host(), to_registry_->connect(nacos_), options);
    OneElsewhere::start({{"EASYRETRY_MEMBERSHIP", registry_.url()}}, {{"EASYRETRY_MEMBERSHIP", far_registry}});
    expect_equal_shares(3, "started 3");
    expect_work_elsewhere("before the cut");
  }

  Millis expect_equal_shares(int processes, const std::string& after) {
    return fault::expect_equal_shares(
        processes, [this] { return registry_.members(); }, after);
  }
  void expect_missed_in_time() {
    const auto traits = cluster::NacosMembership{{}, {}, "nobody"}.traits();
    const Millis missed = expect_equal_shares(2, "cut 1 off");
    EXPECT_LE(missed, detection(traits) + starvation_.longest());
  }
  // Each looks everywhere once in a grace, for what is overdue by one.
  static constexpr Millis kSwept = 2 * kGrace + kWindow / 2 + kLease;

  const int nacos_ = test::shared_server("nacos3");
  Registry registry_{nacos_};
  const Wire to_registry_ = network_.wire();
};
INSTANTIATE_TEST_SUITE_P(NacosAndPostgres, SilentNetworkOfNacos, ::testing::Values(ServerKind::postgres), kind_name);
INSTANTIATE_TEST_SUITE_P(NacosAndMariadb, SilentNetworkOfNacos, ::testing::Values(ServerKind::mariadb), kind_name);

TEST_P(SilentNetworkOfNacos, CutsAnInstanceOffFromTheRegistryAndItContinues) {
  start();
  to_registry_->cut();
  expect_work_elsewhere("without the registry");
  expect_missed_in_time();
  expect_work_elsewhere("when the others have its shards, too");
  to_registry_->heal();
  expect_equal_shares(3, "healed");
  expect_nothing_lost();
}

TEST_P(SilentNetworkOfNacos, CutsAnInstanceOffFromTheDatabaseAndTheOthersRunItsOverdueTasks) {
  start();
  to_database_->cut();
  const Millis served = served_after();
  EXPECT_LE(served, kSwept + starvation_.longest());
  EXPECT_EQ(registry_.members().size(), 3U) << "the registry does not know of the database";
  to_database_->heal();
  expect_work_elsewhere("after the cut");
  expect_nothing_lost();
}

TEST_P(SilentNetworkOfNacos, TakesAnInstanceFromBothAndTheOthersHaveItsShardsUntilItIsBack) {
  start();
  to_database_->cut();
  to_registry_->cut();
  const Millis served = served_after();
  EXPECT_LE(served, kSwept + starvation_.longest());
  expect_missed_in_time();
  to_registry_->heal();
  to_database_->heal();
  expect_equal_shares(3, "healed");
  expect_work_elsewhere("after the cut");
  expect_nothing_lost();
}

}  // namespace
}  // namespace easyretry::fault
