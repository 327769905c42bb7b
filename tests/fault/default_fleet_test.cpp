// A fleet on the default lease and window, whose processes are killed and stopped again and again. For a minute in the
// suite; FLEET_SECONDS=600 makes it longer.

#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "cluster/membership.h"
#include "fault/bounds.h"
#include "fault/each_server.h"
#include "fault/load.h"
#include "fault/recoveries.h"
#include "fault/starvation.h"
#include "fault/verdict.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "support/test_database.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;

constexpr int kProcesses = 6;
constexpr Millis kEach{50};
constexpr Millis kSlow{2000};
constexpr Millis kBetweenRounds{500};
constexpr Millis kBetweenFaults{4000};

std::chrono::seconds duration() {
  const char* const said = std::getenv("FLEET_SECONDS");
  return std::chrono::seconds{said == nullptr ? 40 : std::atoi(said)};
}

class DefaultFleet : public OnEachServer {
 protected:
  int random_process() {
    const auto alive = crew_.alive();
    return alive[dice_.up_to(alive.size() - 1)];
  }

  // The one that runs most, of those that are not stopped: a kill between two executions would interrupt nothing.
  int busiest() {
    std::map<int, int> running;
    for (const JournalEvent& event : crew_.events()) {
      if (event.what == "start") ++running[event.life];
      if (event.what == "end") --running[event.life];
    }
    for (const auto& [life, until] : stopped_until_) running[life] = -1;
    const auto alive = crew_.alive();
    return *std::ranges::max_element(alive, {}, [&](int life) { return running[life]; });
  }

  void kill_one() {
    crew_.kill(busiest());
    crew_.start_elsewhere();
  }

  // Longer than a lease, now and then.
  void stop_one() {
    const int life = random_process();
    if (stopped_until_.contains(life)) return;
    crew_.stop(life);
    stopped_until_[life] = Clock::now() + Millis{dice_.up_to(4) == 0 ? 35'000 : dice_.up_to(9'000)};
  }

  void continue_those_whose_time_has_come(bool all = false) {
    std::erase_if(stopped_until_, [&](const auto& one) {
      const auto alive = crew_.alive();
      if (std::ranges::find(alive, one.first) == alive.end()) return true;
      if (!all && Clock::now() < one.second) return false;
      crew_.go_on(one.first);
      return true;
    });
  }

  using Clock = std::chrono::steady_clock;

  const test::TestDatabase database_{GetParam()};
  const std::unique_ptr<storage::Store> store_ = storage::open_store(database_.url(), system_clock());
  Crew crew_{database_.url(),
             {{"EASYRETRY_LEASE", "30s"},
              {"EASYRETRY_WINDOW", "5s"},
              {"EASYRETRY_WORKERS", "8"},
              {"SLOW_MILLIS", std::to_string(kSlow.count())},
              {"EACH_MILLIS", std::to_string(kEach.count())}}};
  Dice dice_;
  std::map<int, Clock::time_point> stopped_until_;
};
ON_EACH_SERVER(DefaultFleet);
ON_REDIS(DefaultFleet);

TEST_P(DefaultFleet, UnderKillsAndPausesRecoversInTimeAndLeavesNothingOver) {
  SCOPED_TRACE(dice_.trace());
  for (int i = 0; i < kProcesses; ++i) crew_.start_elsewhere();
  SteadyLoad load{database_.url(), crew_, kBetweenRounds};
  const Starvation starvation;
  const auto end = Clock::now() + duration();
  while (Clock::now() < end) {
    std::this_thread::sleep_for(kBetweenFaults + Millis{dice_.up_to(1000)});
    dice_.up_to(2) == 0 ? stop_one() : kill_one();
    continue_those_whose_time_has_come();
  }
  load.end();
  continue_those_whose_time_has_come(true);
  ASSERT_TRUE(test::eventually([&] { return all_done(*store_); }, 120s)) << "something is left over";
  const Lateness times = recoveries(crew_);
  std::cout << "recoveries: " << times << "; starved for " << starvation.longest().count() << " ms\n";
  EXPECT_GE(times.size(), 5U) << "too few were interrupted to say anything";
  constexpr Millis kLease = 30s;
  constexpr Millis kPromised = kLease + 5s / 2;
  EXPECT_LE(times.of(0.9), kPromised + 1s + starvation.longest());
  // If the one that should take over is stopped itself, its silence has to be noticed first.
  const cluster::StoreMembership membership{*store_, "default", "nobody", kLease};
  EXPECT_LE(times.of(1), kPromised + detection(membership.traits()) + 1s + starvation.longest());
  crew_.kill_all();
  std::cout << judge(*store_, crew_) << "\n";
}

}  // namespace
}  // namespace easyretry::fault
