// Processes of a busy fleet are killed again and again, and others start in their place: what they were running is run
// again within the lease and half a window.

#include <iostream>

#include <gtest/gtest.h>

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

constexpr int kProcesses = 10;
constexpr int kWorkers = 8;
constexpr int kKills = 14;
constexpr Millis kLease{3000};
// Tasks keep the workers busy for about two thirds of the time.
constexpr Millis kEach{100};
constexpr Millis kSlow{2000};
constexpr Millis kBetweenRounds{210};
// One that dies before it was noticed that another did may be the one that should take over: then the time counts from
// its own death. So there is time to notice, a third of the lease, two beats and a moment.
constexpr Millis kBetweenKills{2100};

class Recovery : public OnEachServer {
 protected:
  const test::TestDatabase database_{GetParam()};
  const std::unique_ptr<storage::Store> store_ = storage::open_store(database_.url(), system_clock());
  Crew crew_{database_.url(),
             {{"EASYRETRY_LEASE", std::to_string(kLease.count()) + "ms"},
              {"EASYRETRY_WORKERS", std::to_string(kWorkers)},
              {"SLOW_MILLIS", std::to_string(kSlow.count())},
              {"EACH_MILLIS", std::to_string(kEach.count())}}};
  Dice dice_;
};

ON_EACH_SERVER(Recovery);
ON_REDIS(Recovery);

TEST_P(Recovery, OfTheTasksOfAKilledProcessTakesALeaseAndHalfAWindow) {
  SCOPED_TRACE(dice_.trace());
  for (int i = 0; i < kProcesses; ++i) crew_.start_elsewhere();
  expect_equal_shares(kProcesses, members_in(*store_), "started");
  SteadyLoad load{database_.url(), crew_, kBetweenRounds};
  const Starvation starvation;
  for (int kill = 0; kill < kKills; ++kill) {
    std::this_thread::sleep_for(kBetweenKills + Millis{dice_.up_to(200)});
    crew_.kill(crew_.alive()[1 + dice_.up_to(kProcesses - 2)]);
    crew_.start_elsewhere();
  }
  load.end();
  ASSERT_TRUE(test::eventually([&] { return all_done(*store_); }, 60s));
  const Lateness times = recoveries(crew_);
  std::cout << "recoveries: " << times << "; starved for " << starvation.longest().count() << " ms\n";
  RecordProperty("p999_ms", std::to_string(times.of(0.999).count()));
  EXPECT_GE(times.size(), 20U) << "too few were interrupted to say anything";
  EXPECT_LE(times.of(0.999), kLease + kWindow / 2 + 1s + starvation.longest());
  crew_.kill_all();
  std::cout << judge(*store_, crew_) << "\n";
}

}  // namespace
}  // namespace easyretry::fault
