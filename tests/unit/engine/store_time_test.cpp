#include "engine/store_time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kNow{Millis{1'700'000'000'000}};
const Instant kBoot{1h};

TEST(StoreTime, FollowsTheStoresClockNotOurs) {
  StoreTime time{kNow, kBoot};
  time.observe(kNow + 5min, kBoot, kBoot + 1ms);
  EXPECT_EQ(time.at(kBoot + 1ms), kNow + 5min);
  EXPECT_EQ(time.at(kBoot + 1s + 1ms), kNow + 5min + 1s);
}

TEST(StoreTime, AFasterReplyMakesItMoreExact) {
  StoreTime time{kNow - 1h, kBoot};
  time.observe(kNow, kBoot, kBoot + 50ms);
  EXPECT_EQ(time.at(kBoot + 50ms), kNow);
  time.observe(kNow + 99ms, kBoot + 99ms, kBoot + 100ms);
  EXPECT_EQ(time.at(kBoot + 100ms), kNow + 99ms);
}

TEST(StoreTime, ASlowReplyDoesNotMakeItWorse) {
  StoreTime time{kNow, kBoot};
  time.observe(kNow + 10ms, kBoot + 10ms, kBoot + 900ms);
  EXPECT_EQ(time.at(kBoot + 900ms), kNow + 900ms);
}

TEST(StoreTime, GoesBackWhenTheStoresClockWasSetBack) {
  StoreTime time{kNow, kBoot};
  time.observe(kNow - 1h, kBoot + 1s, kBoot + 1001ms);
  EXPECT_EQ(time.at(kBoot + 1001ms), kNow - 1h);
}

TEST(StoreTime, WhenIsTheInverseOfAt) {
  const StoreTime time{kNow, kBoot};
  EXPECT_EQ(time.at(time.when(kNow + 1234ms)), kNow + 1234ms);
  EXPECT_EQ(time.when(TimePoint::max()), Instant::max());
}

// True store time runs with our clock; a reply shows it cut to a millisecond, read somewhere in the round trip.
RC_GTEST_PROP(StoreTime, IsNeverAheadOfTheStore, ()) {
  StoreTime time{kNow - 24h, kBoot};
  Instant local = kBoot;
  const auto truth = [&](Instant at) { return kNow.time_since_epoch() + (at - kBoot); };
  const int samples = *rc::gen::inRange(1, 20);
  for (int i = 0; i < samples; ++i) {
    const Instant sent = local + std::chrono::microseconds{*rc::gen::inRange(0, 5'000'000)};
    const auto there = std::chrono::microseconds{*rc::gen::inRange(0, 200'000)};
    const auto back = std::chrono::microseconds{*rc::gen::inRange(0, 200'000)};
    const TimePoint shown{std::chrono::floor<Millis>(truth(sent + there))};
    local = sent + there + back;
    time.observe(shown, sent, local);
    RC_ASSERT(time.at(local).time_since_epoch() <= truth(local));
  }
}

}  // namespace
}  // namespace easyretry::engine
