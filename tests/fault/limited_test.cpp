// Processes that share a limit of running tasks, killed and stopped while they hold seats. Their journals are the
// witness: however they die, no more tasks run at a time than may.

#include <algorithm>
#include <iostream>
#include <map>

#include "fault/each_server.h"
#include "fault/verdict.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "support/test_database.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;

constexpr int kRunning = 5;
constexpr int kTasks = 120;
constexpr int kKills = 4;

// A lease of five seconds is renewed with more than half of it left: that of a process that was killed holds for this
// long at least, and its seat with it.
constexpr std::int64_t kSurelyTaken = 1'000'000;

constexpr auto kPastItsSeats = 7s;

class Limited : public OnEachServer {
 protected:
  int anyone() {
    const auto alive = crew_.alive();
    return alive[dice_.up_to(alive.size() - 1)];
  }

  void wait_for_starts(std::size_t more) {
    const auto starts = [this] {
      const auto events = crew_.events();
      return static_cast<std::size_t>(std::ranges::count(events, "start", &JournalEvent::what));
    };
    const std::size_t enough = starts() + more;
    ASSERT_TRUE(test::eventually([&] { return starts() >= enough; }, 60s)) << "nothing starts";
  }

  // Others may have its seats by the time it goes on.
  void stop_one_for_longer_than_its_seats() {
    const int life = anyone();
    stopped_at_[life] = wall_micros();
    crew_.stop(life);
    std::this_thread::sleep_for(kPastItsSeats);
    crew_.go_on(life);
  }

  // The greatest number of tasks that ran at a time. A task that runs when its process is stopped counts until then.
  int most_at_a_time() {
    std::vector<std::pair<std::int64_t, int>> changes;
    const auto events = crew_.events();
    std::map<std::pair<std::string, std::int64_t>, std::int64_t> ends;  // by task and fence
    for (const JournalEvent& event : events) {
      if (event.what == "end") ends[{event.subject, event.fence}] = event.micros;
    }
    for (const JournalEvent& event : events) {
      if (event.what != "start") continue;
      std::int64_t end = event.micros;
      if (const auto ended = ends.find({event.subject, event.fence}); ended != ends.end()) {
        end = ended->second;
      } else if (const auto death = crew_.deaths().find(event.life); death != crew_.deaths().end()) {
        end = death->second + kSurelyTaken;
      }
      const auto stopped = stopped_at_.find(event.life);
      if (stopped != stopped_at_.end() && event.micros < stopped->second) end = std::min(end, stopped->second);
      changes.emplace_back(event.micros, 1);
      changes.emplace_back(end, -1);
    }
    std::ranges::sort(changes);
    int running = 0;
    int most = 0;
    for (const auto& [at, change] : changes) most = std::max(most, running += change);
    return most;
  }

  const test::TestDatabase database_{GetParam()};
  Crew crew_{database_.url(),
             {{"EASYRETRY_DEFAULTS_LIMIT", "running=" + std::to_string(kRunning)},
              {"EASYRETRY_LEASE", "5s"},
              {"EACH_MILLIS", "150"},
              {"SLOW_MILLIS", "2000"}}};
  Dice dice_;
  std::map<int, std::int64_t> stopped_at_;
};

ON_EACH_SERVER(Limited);
ON_REDIS(Limited);

TEST_P(Limited, ProcessesThatAreKilledAndStoppedNeverRunMoreThanTheLimit) {
  SCOPED_TRACE(dice_.trace());
  crew_.start_some(3, kTasks);
  for (int i = 0; i < kKills; ++i) {
    ASSERT_NO_FATAL_FAILURE(wait_for_starts(20));
    if (i == 1) stop_one_for_longer_than_its_seats();
    crew_.kill(anyone());
    crew_.start(kTasks / 4);
  }
  ASSERT_NO_FATAL_FAILURE(wait_for_starts(40));
  EXPECT_EQ(most_at_a_time(), kRunning);

  ASSERT_TRUE(crew_.finish());
  EXPECT_EQ(most_at_a_time(), kRunning);
  const auto store = storage::open_store(database_.url(), system_clock());
  std::cout << judge(*store, crew_) << ", at most " << most_at_a_time() << " at a time\n";
}

}  // namespace
}  // namespace easyretry::fault
