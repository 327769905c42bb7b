// Instances whose clocks are minutes apart: the store's clock is the only one that judges.

#include <iostream>

#include <gtest/gtest.h>

#include "fault/each_server.h"
#include "fault/shares.h"
#include "fault/verdict.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "support/test_database.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kSkew = 5min;
// Times that differ by more than this are of two clocks.
constexpr std::int64_t kOneClock = std::chrono::microseconds{kSkew}.count() / 2;
constexpr int kTasksEach = 600;

class SkewedClocks : public OnEachServer {
 protected:
  int start(std::chrono::seconds ahead) {
    return crew_.start(kTasksEach, {.variables = {{"MACHINE_CLOCK", std::to_string(ahead.count())},
                                                  {"MACHINE_NAME", "machine-" + std::to_string(crew_.lives())}}});
  }
  // How far the clock of a life is from that of this machine.
  std::int64_t skew_of(int life) {
    const std::int64_t now = wall_micros();
    EXPECT_TRUE(test::eventually([&] { return !crew_.events_of(life).empty(); }));
    return std::stoll(crew_.events_of(life).front().subject) - now;
  }
  void expect_three_equal_shares(const std::string& after) { expect_equal_shares(3, members_in(*store_), after); }
  // Judged by this machine's clock, which is the server's.
  void expect_all_due_when_they_ran() {
    for (const JournalEvent& event : crew_.events()) {
      if (event.what != "start") continue;
      EXPECT_LT(event.micros - event.due, kOneClock) << event.subject << " was due long before it ran";
    }
  }

  const test::TestDatabase database_{GetParam()};
  const std::unique_ptr<storage::Store> store_ = storage::open_store(database_.url(), system_clock());
  // No other instance helps one that does not see its due tasks.
  Crew crew_{database_.url(), {{"EASYRETRY_GRACE", "1h"}}};
};
ON_EACH_SERVER(SkewedClocks);
ON_REDIS(SkewedClocks);

TEST_P(SkewedClocks, FiveMinutesApartLoseNothingRunNothingEarlyAndLeaveAllMembers) {
  const int slow = start(-kSkew);
  start(0s);
  const int fast = start(kSkew);
  ASSERT_LT(skew_of(slow), -kOneClock) << "its clock is not behind";
  ASSERT_GT(skew_of(fast), kOneClock) << "its clock is not ahead";
  expect_three_equal_shares("started 3");
  ASSERT_TRUE(test::eventually([&] { return crew_.submitted() == 3 * kTasksEach && all_done(*store_); }, 60s));
  expect_three_equal_shares("did everything");
  crew_.kill(slow);
  expect_equal_shares(2, members_in(*store_), "killed the slow one");
  crew_.kill_all();
  expect_all_due_when_they_ran();
  std::cout << judge(*store_, crew_) << "\n";
}

}  // namespace
}  // namespace easyretry::fault
