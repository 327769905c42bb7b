// Brakes of instances that share a store, on virtual time.

#include "unit/engine/brake_fleet.h"

namespace easyretry::engine {
namespace {

class BrakeWatchTest : public BrakeFleet {};

TEST_F(BrakeWatchTest, AllInstancesTogetherRunNoMoreThanTheLimit) {
  VirtualInstance& a = join({.running = 4});
  VirtualInstance& b = join({.running = 4});
  submit(a, 100);
  claim_for(100ms, {&a});
  EXPECT_EQ(running(a), 4U);
  claim_for(5s, {&a, &b});
  EXPECT_EQ(running(b), 0U) << "all seats are taken";
}

TEST_F(BrakeWatchTest, InstancesThatHaveTasksShareTheSeats) {
  VirtualInstance& a = join({.running = 4});
  VirtualInstance& b = join({.running = 4});
  submit(a, 100);
  claim_for(100ms, {&a});
  claim_for(2s, {&a, &b});
  finish(a);
  claim_for(3s, {&a, &b});
  EXPECT_EQ(running(a), 2U);
  EXPECT_EQ(running(b), 2U);
}

TEST_F(BrakeWatchTest, ASingleSeatGoesFromOneToAnother) {
  VirtualInstance& a = join({.running = 1});
  VirtualInstance& b = join({.running = 1});
  submit(a, 700);
  work_for(1min, {&a, &b});
  EXPECT_GT(a.core.stats().succeeded, 50U);
  EXPECT_GT(b.core.stats().succeeded, 50U);
}

TEST_F(BrakeWatchTest, TheSeatsOfOneThatDiedAreFreeAfterItsLeasesAndNotBefore) {
  join({.running = 4});
  VirtualInstance& b = join({.running = 4});
  submit(instances.front(), 100);
  claim_for(100ms, {&instances.front()});
  ASSERT_EQ(running(instances.front()), 4U);
  instances.pop_front();  // its crash
  claim_for(30s, {&b});
  EXPECT_EQ(running(b), 0U);
  claim_for(10s, {&b});
  EXPECT_GE(running(b), 1U) << "tasks that were running in a crash are claimed one by one";
}

TEST_F(BrakeWatchTest, AnInstanceThatDoesNotHearFromTheStoreStartsNothingMore) {
  VirtualInstance& a = join({.running = 4});
  submit(a, 400);
  work_for(1s, {&a});
  const int before = calls;
  store->answers = false;
  work_for(4s, {&a});
  const int soon = calls;
  EXPECT_GT(soon, before) << "its seats are its own for a while";
  work_for(1min, {&a});
  EXPECT_EQ(calls, soon);
  store->answers = true;
  work_for(1s, {&a});
  EXPECT_GT(calls, soon);
}

TEST_F(BrakeWatchTest, ALeaseIsNotRenewedBeyondItsSeat) {
  VirtualInstance& a = join({.running = 1});
  submit(a, 1);
  claim_for(1min, {&a});
  ASSERT_EQ(running(a), 1U);
  const TaskId id = a.core.in_flight().all().front()->record.info.id;
  store->answers = false;
  claim_for(3s, {&a});
  const TimePoint until = a.look(id).lease_until;
  claim_for(1min, {&a});
  EXPECT_LE(a.look(id).lease_until, until);
}

TEST_F(BrakeWatchTest, AnAnnouncementThatIsStoredLateDoesNotReplaceANewerOne) {
  VirtualInstance& a = join({.running = 4});
  submit(a, 1);
  claim_for(1s, {&a});
  store->answers = false;
  claim_for(1s, {&a});
  ASSERT_TRUE(store->late) << "it says that few seats are taken";
  store->answers = true;
  submit(a, 100);
  claim_for(2s, {&a});
  ASSERT_EQ(running(a), 4U);
  store->late();
  VirtualInstance& b = join({.running = 4});
  claim_for(5s, {&a, &b});
  EXPECT_EQ(running(b), 0U);
}

TEST_F(BrakeWatchTest, AnAnnouncementWhoseAnswerIsLostDoesNotBlockSeatsForLong) {
  VirtualInstance& a = join({.running = 4});
  submit(a, 100);
  store->answers = false;
  store->applies = true;
  claim_for(1s, {&a});
  store->answers = true;
  claim_for(2s, {&a});
  EXPECT_EQ(running(a), 4U);
  VirtualInstance& b = join({.running = 8});
  claim_for(3s, {&a, &b});
  EXPECT_EQ(running(b), 4U) << "the old announcement was taken back";
}

TEST_F(BrakeWatchTest, ExchangesOncePerSecondWhileSomethingRuns) {
  VirtualInstance& a = join({.running = 4});
  submit(a, 100);
  claim_for(2s, {&a});
  store->exchanges = 0;
  claim_for(1min, {&a});
  EXPECT_LE(store->exchanges, 60);
  EXPECT_GE(store->exchanges, 50);
}

TEST_F(BrakeWatchTest, AnIdleInstanceSaysAndAsksNothing) {
  VirtualInstance& a = join({.running = 4, .per_second = 100});
  VirtualInstance& b = join({.running = 4, .per_second = 100});
  submit(a, 10);
  work_for(20s, {&a, &b});
  EXPECT_EQ(calls, 10);
  store->exchanges = 0;
  work_for(10min, {&a, &b});
  EXPECT_EQ(store->exchanges, 0);
}

TEST_F(BrakeWatchTest, ARateIsSharedByThoseThatHaveTasks) {
  VirtualInstance& a = join({.per_second = 10});
  VirtualInstance& b = join({.per_second = 10});
  submit(a, 500);
  work_for(5s, {&a, &b});
  calls = 0;
  const auto before = a.core.stats().succeeded;
  work_for(30s, {&a, &b});
  EXPECT_LE(calls, 305);
  EXPECT_GE(calls, 240) << "now and then both want the same task";
  EXPECT_NEAR(static_cast<double>(a.core.stats().succeeded - before), calls / 2.0, 15);
}

TEST_F(BrakeWatchTest, ARateIsKeptWhileInstancesComeAndGo) {
  VirtualInstance& a = join({.per_second = 10});
  VirtualInstance& b = join({.per_second = 10});
  submit(a, 650);
  for (int i = 0; i < 5; ++i) {
    work_for(6s, {&a});
    work_for(6s, {&a, &b});
  }
  EXPECT_LE(calls, 610);
}

TEST_F(BrakeWatchTest, TasksThatAreHeldBackAreNotTouched) {
  VirtualInstance& a = join({.running = 1});
  submit(a, 1);
  claim_for(100ms, {&a});
  const TaskId held = a.submit("pay", "held");
  const auto before = a.look(held);
  claim_for(1min, {&a});
  const auto after = a.look(held);
  EXPECT_EQ(after.info.version, before.info.version);
  EXPECT_EQ(after.info.attempts, 0);
  EXPECT_EQ(after.info.next_at, before.info.next_at);
}

TEST(BrakeReports, AreReadAsTheyWereWritten) {
  const StoreTime time{TimePoint{Millis{1'700'000'000'000}}, Instant{} + 1h};
  BrakeReports reports;
  reports[brake_hash("handler pay")] = {{1, 2}, {3, 4}, Instant{} + 1h};
  reports[brake_hash("circuit gateway")] = {{5, 6}, {7, 8}};
  const BrakeReports read = parse_brakes(brake_text(reports, time), time);
  ASSERT_EQ(read.size(), 2U);
  const BrakeReport& pay = read.at(brake_hash("handler pay"));
  EXPECT_EQ(pay.seats.seats, 1);
  EXPECT_EQ(pay.shares.wishes, 4);
  EXPECT_EQ(pay.empty_at, Instant{} + 1h);
  EXPECT_EQ(read.at(brake_hash("circuit gateway")).empty_at, Instant::min());
}

TEST(BrakeReports, ThatCannotBeReadAreLeftOut) {
  const StoreTime time{TimePoint{}, Instant{}};
  for (const char* text : {"", "1", "1 2 3 4 5", "1 2 3 4 5 six", "1 2 3 4 5 6 7", "1 -2 3 4 5 6", ";;"}) {
    EXPECT_TRUE(parse_brakes(text, time).empty()) << text;
  }
}

}  // namespace
}  // namespace easyretry::engine
