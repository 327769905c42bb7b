// Instances come and go under load: 8, 9, 10, and after kills 3. Nothing is lost, the work is spread evenly, and the
// work of killed instances is taken over in time.

#include <algorithm>
#include <iostream>
#include <optional>
#include <ranges>

#include <gtest/gtest.h>

#include "cluster/membership.h"
#include "fault/bounds.h"
#include "fault/each_server.h"
#include "fault/load.h"
#include "fault/registry.h"
#include "fault/starvation.h"
#include "fault/verdict.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "support/test_database.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;

constexpr Millis kLease{6000};
// Ten processes, their database and the registry share one machine. The test is about them, not about how fast it is.
constexpr Millis kBetweenRounds = 2 * SteadyLoad::kBetweenRounds;
constexpr int kRoundsAPhase = 15;
constexpr double kMostUneven = 0.2;

struct Meeting {
  ServerKind server;
  bool in_nacos;
  std::string assignment;
};

cluster::Membership::Traits traits_of(storage::Store& store) {
  return cluster::StoreMembership{store, "default", "nobody", kLease}.traits();
}

// Until every process uses the same list, and no process stands by for shards that it had before.
Millis list_is_known(const Meeting& meeting, storage::Store& store) {
  // A process that is killed closes its connection, and Nacos tells the others within 2 s.
  return meeting.in_nacos ? 2s + cluster::Debounce{}.shrinking : handover(traits_of(store));
}

// Until the others know that a process was killed.
Millis death_is_known(const Meeting& meeting, storage::Store& store) {
  return meeting.in_nacos ? list_is_known(meeting, store) : detection(traits_of(store));
}

class Elastic : public ::testing::TestWithParam<Meeting> {
 protected:
  Elastic() {
    if (GetParam().in_nacos) registry_.emplace(test::shared_server("nacos3"));
    Variables variables{{"EASYRETRY_ASSIGNMENT", GetParam().assignment},
                        {"EASYRETRY_LEASE", std::to_string(kLease.count()) + "ms"},
                        {"SLOW_MILLIS", "300"}};  // so that some are running when their process is killed
    if (registry_) variables["EASYRETRY_MEMBERSHIP"] = registry_->url();
    crew_.emplace(database_.url(), std::move(variables));
  }

  void start(int processes) {
    for (int i = 0; i < processes; ++i) crew_->start_elsewhere();
  }

  void expect_equal_shares(int processes, const std::string& after) {
    const Roster roster = registry_ ? Roster{[this] { return registry_->members(); }} : members_in(*store_);
    fault::expect_equal_shares(processes, roster, after);
  }

  // Of the tasks that come when the shards have changed hands, each process ends its part.
  void expect_even_work(const SteadyLoad& load, int processes) {
    // Twice the time that is promised: this is about shares.
    const auto rounds_until_then = 2 * list_is_known(GetParam(), *store_) / kBetweenRounds + 1;
    const int from = load.next() + static_cast<int>(rounds_until_then) * kShards;
    const int to = from + kRoundsAPhase * kShards;
    ASSERT_TRUE(test::eventually([&] { return load.next() >= to && ends_->all_of(from, to); }, 60s));
    const auto done = ends_->by_life(from, to);
    EXPECT_EQ(static_cast<int>(done.size()), processes);
    const auto [least, most] = std::ranges::minmax(done | std::views::values);
    const double even = static_cast<double>(to - from) / processes;
    std::cout << processes << " processes ended " << least << " to " << most << " tasks each of " << to - from
              << "; even would be " << even << "\n";
    RecordProperty("most_of_" + std::to_string(processes), std::to_string(most / even));
    RecordProperty("least_of_" + std::to_string(processes), std::to_string(least / even));
    EXPECT_LE(most, even * (1 + kMostUneven));
    EXPECT_GE(least, even * (1 - kMostUneven));
  }

  const test::TestDatabase database_{GetParam().server};
  const std::unique_ptr<storage::Store> store_ = storage::open_store(database_.url(), system_clock());
  std::optional<Registry> registry_;
  std::optional<Crew> crew_;
  std::optional<Ends> ends_;
};

TEST_P(Elastic, EightNineTenAndThreeInstancesUnderLoadLoseNothingAndShareTheWork) {
  start(8);
  expect_equal_shares(8, "started 8");
  SteadyLoad load{database_.url(), *crew_, kBetweenRounds};
  ends_.emplace(*crew_);
  ASSERT_NO_FATAL_FAILURE(expect_even_work(load, 8));
  for (const int more : {9, 10}) {
    start(1);
    expect_equal_shares(more, "started 1");
    ASSERT_NO_FATAL_FAILURE(expect_even_work(load, more));
  }
  const Starvation starvation;
  crew_->kill_oldest(7);
  const Millis finished = time_takeover(load, *ends_).finished;
  EXPECT_LE(finished, takeover(kLease, death_is_known(GetParam(), *store_), kBetweenRounds) + starvation.longest());
  expect_equal_shares(3, "killed 7");
  ASSERT_NO_FATAL_FAILURE(expect_even_work(load, 3));

  load.end();
  ASSERT_TRUE(test::eventually([&] { return all_done(*store_); }, 60s));
  crew_->kill_all();
  std::cout << judge(*store_, *crew_) << "\n";
}

std::string assignment_of(const ::testing::TestParamInfo<Meeting>& info) {
  return info.param.assignment;
}

// The name before the slash says which servers ctest starts.
INSTANTIATE_TEST_SUITE_P(Postgres, Elastic,
                         ::testing::Values(Meeting{ServerKind::postgres, false, "stride"},
                                           Meeting{ServerKind::postgres, false, "even"}),
                         assignment_of);
INSTANTIATE_TEST_SUITE_P(Mariadb, Elastic,
                         ::testing::Values(Meeting{ServerKind::mariadb, false, "stride"},
                                           Meeting{ServerKind::mariadb, false, "even"}),
                         assignment_of);
INSTANTIATE_TEST_SUITE_P(NacosAndPostgres, Elastic,
                         ::testing::Values(Meeting{ServerKind::postgres, true, "stride"},
                                           Meeting{ServerKind::postgres, true, "even"}),
                         assignment_of);
INSTANTIATE_TEST_SUITE_P(NacosAndMariadb, Elastic,
                         ::testing::Values(Meeting{ServerKind::mariadb, true, "stride"},
                                           Meeting{ServerKind::mariadb, true, "even"}),
                         assignment_of);

}  // namespace
}  // namespace easyretry::fault
