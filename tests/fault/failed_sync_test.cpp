// Syncs that fail for a while, and take what was written with them: nothing that was acknowledged is missing on the
// disk, and the same process goes on when the disk works again.

#include <algorithm>
#include <iostream>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "fault/kept_promises.h"
#include "fault/lossy_disk.h"
#include "fault/verdict.h"
#include "storage/open.h"
#include "support/eventually.h"

namespace easyretry::fault {
namespace {

constexpr int kTasks = 6000;
constexpr std::chrono::seconds kPatience{120};

class OnALossyDisk {
 protected:
  bool grows(std::size_t by) {
    const std::size_t before = acknowledged(crew_);
    return test::eventually([&] { return acknowledged(crew_) >= before + by; }, kPatience);
  }
  bool fails(const std::string& what, std::size_t times) {
    const std::size_t before = disk_.failures();
    disk_.fail(what);
    return test::eventually([&] { return disk_.failures() >= before + times; }, kPatience);
  }
  // The process has been killed, and the machine with it.
  void expect_all_acknowledged_on_the_disk() {
    std::cout << disk_.failures() << " failed syncs, ";
    expect_all_acknowledged_in(disk_.remount(), crew_);
  }

  LossyDisk disk_;
  Crew crew_{disk_.url(), disk_.variables()};
};

class FailedSync : public OnALossyDisk, public ::testing::TestWithParam<const char*> {};

TEST_P(FailedSync, LosesNothingAcknowledgedAndTheProcessContinues) {
  const int life = crew_.start(kTasks);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(grows(100)) << "round " << round;
    ASSERT_TRUE(fails(GetParam(), 3)) << "round " << round;
    disk_.work();
  }
  ASSERT_TRUE(grows(100));
  crew_.kill(life);
  expect_all_acknowledged_on_the_disk();
}

// The next process finds in the page cache what never reached the disk.
TEST_P(FailedSync, LosesNothingThatTheNextProcessAcknowledges) {
  const int first = crew_.start(kTasks);
  ASSERT_TRUE(grows(100));
  ASSERT_TRUE(fails(GetParam(), 1));
  crew_.kill(first);
  disk_.work();
  const int second = crew_.start(kTasks);
  ASSERT_TRUE(grows(100));
  crew_.kill(second);
  expect_all_acknowledged_on_the_disk();
}

std::string words_of(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Sqlite, FailedSync, ::testing::Values("wal", "wal evict", "wal db folder"), words_of);

bool has_ended(const Child& child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

class FailedSyncOf : public OnALossyDisk, public ::testing::Test {};

TEST_F(FailedSyncOf, TheLogStillEndsEachTaskOnceAndOverlapsNothing) {
  const int life = crew_.start(1000);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(grows(100)) << "round " << round;
    ASSERT_TRUE(fails("wal", 4)) << "round " << round;
    disk_.work();
  }
  ASSERT_TRUE(test::eventually([&] { return crew_.submitted() == 1000; }, kPatience));
  crew_.kill(life);
  ASSERT_TRUE(crew_.finish());
  const auto store = storage::open_store(disk_.url(), system_clock());
  std::cout << judge(*store, crew_) << "\n";
}

// Checkpoints copy the log into the database, once it is 64 MiB long.
TEST_F(FailedSyncOf, TheDatabaseLosesNothing) {
  const int life = crew_.start(20'000);
  ASSERT_TRUE(grows(100));
  ASSERT_TRUE(fails("db evict", 2));
  disk_.work();
  ASSERT_TRUE(grows(100));
  crew_.kill(life);
  expect_all_acknowledged_on_the_disk();
}

// Without their names, files are not there after a crash.
TEST_F(FailedSyncOf, TheFolderKeepsTheStoreFromBeingOpened) {
  disk_.fail("folder");
  Child& refused = crew_.member(crew_.start(kTasks));
  ASSERT_TRUE(test::eventually([&] { return has_ended(refused) || acknowledged(crew_) > 0; }, kPatience));
  EXPECT_EQ(acknowledged(crew_), 0U);
  refused.kill();
  disk_.work();
  const int life = crew_.start(kTasks);
  ASSERT_TRUE(grows(100));
  crew_.kill(life);
  expect_all_acknowledged_on_the_disk();
}

}  // namespace
}  // namespace easyretry::fault
