// One brake, on virtual time.

#include "engine/brake.h"

#include <gtest/gtest.h>

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

class BrakeTest : public ::testing::Test {
 protected:
  void limit(const LimitOptions& options) {
    brake.set(options, {holdings});
    brake.alone();
  }
  std::size_t start(std::size_t wanted) {
    const std::size_t room = brake.reserve(now, wanted);
    holdings->claimed += static_cast<std::int64_t>(room);
    brake.keep(now, room, room);
    return room;
  }
  std::size_t starts_in(Millis time) {
    std::size_t all = 0;
    for (const Instant end = now + time; now < end; now += 10ms) all += start(1'000);
    return all;
  }

  Instant now = Instant{} + 1h;
  std::shared_ptr<Holdings> holdings = std::make_shared<Holdings>();
  Brake brake;
};

TEST_F(BrakeTest, StartsNoMoreThanMayRun) {
  limit({.running = 3});
  EXPECT_EQ(start(10), 3U);
  EXPECT_EQ(start(10), 0U);
  --holdings->claimed;
  EXPECT_EQ(start(10), 1U);
}

TEST_F(BrakeTest, CountsTasksThatAreBeingClaimed) {
  limit({.running = 3});
  holdings->claiming = 2;
  EXPECT_EQ(start(10), 1U);
}

TEST_F(BrakeTest, ZeroStartsNothing) {
  limit({.running = 0});
  EXPECT_EQ(start(10), 0U);
  EXPECT_FALSE(brake.is_wanted()) << "no answer of the store would change that";
}

TEST_F(BrakeTest, AReservationThatIsNotUsedGoesBack) {
  limit({.running = 3, .per_second = 3, .burst = 3});
  EXPECT_EQ(brake.reserve(now, 3), 3U);
  EXPECT_EQ(brake.reserve(now, 3), 0U);
  brake.keep(now, 3, 0);
  EXPECT_EQ(start(3), 3U);
}

TEST_F(BrakeTest, KeepsTheRate) {
  limit({.per_second = 10});
  EXPECT_EQ(starts_in(10s), 100U);
}

TEST_F(BrakeTest, KeepsARateOfLessThanOnePerSecond) {
  limit({.per_second = 0.1});
  EXPECT_EQ(starts_in(1min), 6U);
}

TEST_F(BrakeTest, ABurstComesAfterAQuietTimeOnly) {
  limit({.per_second = 10, .burst = 50});
  EXPECT_EQ(start(1'000), 50U);
  EXPECT_NEAR(static_cast<double>(starts_in(1s)), 10, 1);
  now += 2s;
  EXPECT_NEAR(static_cast<double>(start(1'000)), 20, 1);
  now += 1h;
  EXPECT_EQ(start(1'000), 50U);
}

TEST_F(BrakeTest, SaysWhenTheNextStartIsAllowed) {
  limit({.per_second = 0.5});
  start(1);
  EXPECT_EQ(brake.next_start(now), Instant::max()) << "nothing waits";
  start(1);
  EXPECT_EQ(brake.next_start(now), now + 2s);
  now += 2s;
  EXPECT_EQ(start(1), 1U);
}

TEST_F(BrakeTest, SaysSinceWhenItHoldsBack) {
  limit({.running = 1});
  start(1);
  EXPECT_FALSE(brake.view().held);
  const Instant since = now;
  for (int i = 0; i < 10; ++i, now += 1s) start(1);
  EXPECT_EQ(brake.view().held, since);
  --holdings->claimed;
  start(1);
  EXPECT_FALSE(brake.view().held) << "all that wanted to could start";
}

TEST_F(BrakeTest, ASmallerLimitTakesEffectAsTasksEnd) {
  limit({.running = 3});
  start(3);
  limit({.running = 1});
  --holdings->claimed;
  EXPECT_EQ(start(1), 0U);
  holdings->claimed = 0;
  EXPECT_EQ(start(5), 1U);
}

// Of an instance that shares a store.
class SharedBrakeTest : public BrakeTest {
 protected:
  SharedBrakeTest() { brake.set({.running = 4}, {holdings}); }

  void exchange(std::vector<BrakeReport> others = {}) {
    ASSERT_TRUE(brake.announce(now));
    brake.heard({now, now, true, Brake::times(30s)}, others);
  }
};

TEST_F(SharedBrakeTest, StartsNothingBeforeTheStoreHasAnswered) {
  EXPECT_EQ(start(1), 0U);
  EXPECT_TRUE(brake.take_wanted());
  exchange();
  EXPECT_EQ(start(1), 1U);
}

TEST_F(SharedBrakeTest, StartsNothingAndRenewsNothingByAnOldAnswer) {
  start(2);
  exchange();
  EXPECT_EQ(start(1), 1U);
  now += 3s - 1ms;
  EXPECT_TRUE(brake.may_renew(now));
  EXPECT_EQ(start(1), 1U);
  now += 1ms;
  EXPECT_FALSE(brake.may_renew(now));
  EXPECT_EQ(start(1), 0U);
  EXPECT_TRUE(brake.may_begin(now)) << "what is claimed has its seat";
}

TEST_F(SharedBrakeTest, HasNoSeatsWhenItsAnnouncementMayHaveExpired) {
  start(2);
  exchange();
  start(2);
  now += 35s;
  EXPECT_FALSE(brake.may_begin(now));
  exchange({{.seats = {4, 4}}});
  EXPECT_EQ(brake.view().seats, 0);
  EXPECT_EQ(start(1), 0U);
  EXPECT_FALSE(brake.may_begin(now)) << "others have them";
}

TEST_F(SharedBrakeTest, AnAnswerThatTookTooLongGivesNoSeatsUnlessOthersWereReadAfterIt) {
  start(2);
  exchange();
  now += 30s;
  ASSERT_TRUE(brake.announce(now));
  brake.heard({now, now + 20s, false, Brake::times(30s)}, {});
  EXPECT_EQ(brake.view().seats, 0);
}

TEST_F(SharedBrakeTest, ARateGoesOnWithItsShareIfTheStoreDoesNotAnswer) {
  brake.set({.per_second = 10}, {holdings});
  start(1);
  exchange({{.shares = {Brake::kShares / 2, Brake::kShares}}});
  EXPECT_NEAR(static_cast<double>(starts_in(10min)), 3'000, 2);
}

TEST_F(SharedBrakeTest, TakesOverTheDebtOfARateWithItsShare) {
  brake.set({.per_second = 10, .burst = 100}, {holdings});
  start(1);
  exchange({{.shares = {0, 0}, .empty_at = now}});
  EXPECT_EQ(start(100), 0U) << "another instance has just started as many as it may";
  now += 1s;
  EXPECT_NEAR(static_cast<double>(start(100)), 10, 1);
}

}  // namespace
}  // namespace easyretry::engine
