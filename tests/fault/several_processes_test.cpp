// Several processes on one database, killed and stopped at random: a task is one's at a time.

#include <csignal>
#include <iostream>

#include "fault/each_server.h"
#include "fault/verdict.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "support/test_database.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;

constexpr int kProcesses = 3;
constexpr int kBlows = 15;
constexpr int kTasksPerLife = 400;
constexpr std::size_t kMostEventsBetween = 1200;
constexpr auto kPastTheLease = 1500ms;  // of a second

class SeveralProcesses : public OnEachServer {
 protected:
  int anyone() {
    const auto alive = crew_.alive();
    return alive[dice_.up_to(alive.size() - 1)];
  }

  void work_on_for_a_while() {
    const std::size_t enough = crew_.events_written() + dice_.up_to(kMostEventsBetween);
    ASSERT_TRUE(test::eventually([&] { return crew_.events_written() >= enough; })) << "nothing goes on";
  }

  // The next one brings more work than is done until the next blow.
  void kill_one() {
    crew_.kill(anyone());
    crew_.start(kTasksPerLife);
  }

  // The others get its tasks; it finds out when it goes on.
  void stop_one_for_longer_than_its_lease() {
    const int life = anyone();
    crew_.stop(life);
    std::this_thread::sleep_for(kPastTheLease);
    crew_.go_on(life);
  }

  const test::TestDatabase database_{GetParam()};
  Crew crew_{database_.url()};
  Dice dice_;
};

ON_EACH_SERVER(SeveralProcesses);
ON_REDIS(SeveralProcesses);

TEST_P(SeveralProcesses, KilledAndStoppedAtRandomLoseNothingAndNeverShareATask) {
  SCOPED_TRACE(dice_.trace());
  for (int i = 0; i < kProcesses; ++i) crew_.start(kTasksPerLife);
  for (int blow = 0; blow < kBlows; ++blow) {
    ASSERT_NO_FATAL_FAILURE(work_on_for_a_while());
    if (blow % 5 == 4) stop_one_for_longer_than_its_lease();
    kill_one();
  }
  ASSERT_TRUE(crew_.finish());

  const auto store = storage::open_store(database_.url(), system_clock());
  const Verdict verdict = judge(*store, crew_);
  EXPECT_GE(verdict.ended, 1000U);
  std::cout << verdict << "\n";
}

}  // namespace
}  // namespace easyretry::fault
