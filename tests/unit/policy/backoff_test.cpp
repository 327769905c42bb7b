#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "policy/decide.h"
#include "policy/limits.h"

namespace easyretry::policy {
namespace {

using namespace std::chrono_literals;

constexpr double kAlmostOne = 0x1.fffffffffffffp-1;
constexpr double kRandoms[] = {0.0, 0.25, 0.5, kAlmostOne};

Millis delay(const Backoff& backoff, int attempt, double random = 0, Millis last = 0ms) {
  return next_delay(backoff, attempt, last, random);
}

rc::Gen<double> any_random() {
  return rc::gen::map(rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 53),
                      [](std::int64_t bits) { return static_cast<double>(bits) * 0x1p-53; });
}

rc::Gen<Millis> any_delay(std::int64_t from = 0) {
  return rc::gen::map(rc::gen::inRange<std::int64_t>(from, kLongestDelay.count() + 1),
                      [](std::int64_t ms) { return Millis{ms}; });
}

rc::Gen<Jitter> any_jitter() {
  return rc::gen::oneOf(rc::gen::just(Jitter::none()), rc::gen::just(Jitter::full()),
                        rc::gen::just(Jitter::decorrelated()),
                        rc::gen::map(any_delay(), [](Millis amount) { return Jitter{amount}; }));
}

rc::Gen<Backoff> any_backoff() {
  return rc::gen::exec([]() -> Backoff {
    const Jitter jitter = *any_jitter();
    const Millis first = *any_delay(1);
    switch (*rc::gen::inRange(0, 5)) {
      case 0: return Exponential{first, *rc::gen::inRange(10, 1000) / 10.0, *any_delay(first.count()), jitter};
      case 1: return Fixed{first, jitter};
      case 2: return Linear{first, *any_delay(), *any_delay(first.count()), jitter};
      case 3: return Ladder{{first, *any_delay(), *any_delay()}, jitter};
      default: return EasyRetryClassic{};
    }
  });
}

TEST(Exponential, GivesTheExamplesOfTheSpec) {
  const Exponential shape{.first = 1s, .jitter = 1s};
  EXPECT_EQ(delay(shape, 1), 2s);
  EXPECT_EQ(delay(shape, 2), 4s);
  EXPECT_EQ(delay(shape, 3), 8s);
  EXPECT_EQ(delay(shape, 1, kAlmostOne), 3s);
  EXPECT_EQ(delay(shape, 2, kAlmostOne), 5s);
  EXPECT_EQ(delay(shape, 3, kAlmostOne), 9s);
}

TEST(Exponential, DoublesUntilTheCap) {
  const Exponential shape{.first = 1s, .cap = 5min, .jitter = Jitter::none()};
  EXPECT_EQ(delay(shape, 8), 256s);
  EXPECT_EQ(delay(shape, 9), 5min);
  EXPECT_EQ(delay(shape, 10), 5min);
}

TEST(Exponential, AddsItsJitterAlsoAtTheCap) {
  EXPECT_EQ(delay(Exponential{.first = 1s, .cap = 5min, .jitter = 2s}, 20, 0.5), 301s);
}

TEST(Exponential, OfFactorOneStaysWhereItIs) {
  EXPECT_EQ(delay(Exponential{.first = 3s, .factor = 1, .jitter = {}}, 10'000), 3s);
}

TEST(Fixed, WaitsTheSameEachTime) {
  EXPECT_EQ(delay(Fixed{5s, {}}, 1), 5s);
  EXPECT_EQ(delay(Fixed{5s, {}}, 99), 5s);
}

TEST(Linear, AddsAStepUntilTheCap) {
  const Linear shape{.first = 1s, .step = 2s, .cap = 6s, .jitter = {}};
  EXPECT_EQ(delay(shape, 1), 1s);
  EXPECT_EQ(delay(shape, 2), 3s);
  EXPECT_EQ(delay(shape, 3), 5s);
  EXPECT_EQ(delay(shape, 4), 6s);
}

TEST(Ladder, RepeatsItsLastStep) {
  const Ladder shape{5s, 30s, 5min};
  EXPECT_EQ(delay(shape, 1), 5s);
  EXPECT_EQ(delay(shape, 2), 30s);
  EXPECT_EQ(delay(shape, 3), 5min);
  EXPECT_EQ(delay(shape, 4), 5min);
  EXPECT_EQ(delay(shape, 10'000), 5min);
}

TEST(Ladder, WithoutStepsStillWaits) {
  EXPECT_GT(delay(Ladder{}, 1), 0ms);
}

TEST(EasyRetryClassic, WaitsAsAlibabasDoes) {
  const Millis expected[] = {5s, 20s, 75s, 320s, 15min, 15min};
  for (int attempt = 1; attempt <= 6; ++attempt) {
    EXPECT_EQ(delay(EasyRetryClassic{}, attempt), expected[attempt - 1]) << attempt;
  }
}

TEST(EasyRetryClassic, DependsOnTheAttemptAlone) {
  EXPECT_EQ(delay(EasyRetryClassic{}, 3, 0.7, 999s), 75s);
}

TEST(Backoff, DoesNotOverflowAtAttempt10000) {
  EXPECT_EQ(delay(Exponential{.first = 1s, .cap = 15min, .jitter = {}}, 10'000), 15min);
  EXPECT_EQ(delay(Exponential{.first = kLongestDelay, .factor = 1e300, .cap = kLongestDelay, .jitter = kLongestDelay},
                  10'000, kAlmostOne),
            kLongestDelay);
  EXPECT_EQ(delay(Linear{kLongestDelay, kLongestDelay, kLongestDelay, {}}, std::numeric_limits<int>::max()),
            kLongestDelay);
  EXPECT_EQ(delay(EasyRetryClassic{}, std::numeric_limits<int>::max()), 15min);
}

TEST(Backoff, NeverWaitsLongerThanTenYears) {
  EXPECT_EQ(delay(Fixed{Millis::max(), {}}, 1), kLongestDelay);
  EXPECT_EQ(delay(Exponential{.first = 1s, .cap = Millis::max(), .jitter = {}}, 10'000), kLongestDelay);
}

TEST(Backoff, NeverWaitsBackwards) {
  EXPECT_EQ(delay(Fixed{-5s, {}}, 1), 0ms);
  EXPECT_EQ(delay(Exponential{.first = 0s, .jitter = {}}, 10'000), 0ms) << "zero times infinity";
}

TEST(Jitter, FullDrawsBetweenNothingAndTheDelay) {
  const Fixed shape{10s, Jitter::full()};
  EXPECT_EQ(delay(shape, 1, 0), 0s);
  EXPECT_EQ(delay(shape, 1, 0.5), 5s);
  EXPECT_EQ(delay(shape, 1, kAlmostOne), 10s);
}

TEST(Jitter, DecorrelatedDrawsBetweenFirstAndThreeTimesTheDelayBefore) {
  const Exponential shape{.first = 1s, .cap = 60s, .jitter = Jitter::decorrelated()};
  EXPECT_EQ(delay(shape, 2, 0, 10s), 1s);
  EXPECT_EQ(delay(shape, 2, 0.5, 10s), 15500ms);
  EXPECT_EQ(delay(shape, 2, kAlmostOne, 10s), 30s);
  EXPECT_EQ(delay(shape, 2, kAlmostOne, 50s), 60s) << "the cap";
}

TEST(Jitter, DecorrelatedSpreadsTheFirstRetryToo) {
  const Exponential shape{.first = 1s, .cap = 60s, .jitter = Jitter::decorrelated()};
  EXPECT_EQ(delay(shape, 1, 0), 1s);
  EXPECT_EQ(delay(shape, 1, kAlmostOne), 3s);
}

TEST(Jitter, DecorrelatedWithoutACapStaysAtOrBelowTheDelay) {
  for (const double random : kRandoms) {
    for (const Millis last : {0ms, 500ms, 9000ms, 3600000ms}) {
      EXPECT_GE(delay(Fixed{9s, Jitter::decorrelated()}, 1, random, last), 3s);
      EXPECT_LE(delay(Fixed{9s, Jitter::decorrelated()}, 1, random, last), 9s);
      EXPECT_LE(delay(Ladder{{3s, 9s}, Jitter::decorrelated()}, 2, random, last), 9s);
    }
  }
}

RC_GTEST_PROP(Backoff, StaysBetweenNothingAndTenYears, ()) {
  const Backoff backoff = *any_backoff();
  const auto wait = next_delay(backoff, *rc::gen::inRange(1, 10'001), *any_delay(), *any_random());
  RC_ASSERT(wait >= 0ms);
  RC_ASSERT(wait <= kLongestDelay);
}

RC_GTEST_PROP(Backoff, WithoutJitterNeverGetsShorterUpToTheCap, ()) {
  const Millis first = *any_delay(1);
  const Millis cap = *any_delay(first.count());
  const auto backoff =
      *rc::gen::element<Backoff>(Exponential{first, *rc::gen::inRange(10, 50) / 10.0, cap, Jitter::none()},
                                 Linear{first, *any_delay(), cap, Jitter::none()}, EasyRetryClassic{});
  const int attempt = *rc::gen::inRange(1, 10'000);
  RC_ASSERT(delay(backoff, attempt) <= delay(backoff, attempt + 1));
  if (!std::holds_alternative<EasyRetryClassic>(backoff)) RC_ASSERT(delay(backoff, attempt + 1) <= cap);
}

RC_GTEST_PROP(Jitter, AdditiveAddsUpToItsAmount, ()) {
  const auto second = *rc::gen::inRange<std::int64_t>(0, 100'000'000);
  const Millis amount{*rc::gen::inRange<std::int64_t>(1, 100'000'000)};
  const Millis wait = delay(Fixed{Millis{second}, amount}, 1, *any_random());
  RC_ASSERT(wait >= Millis{second});
  RC_ASSERT(wait <= Millis{second} + amount);
}

RC_GTEST_PROP(Jitter, FullNeverExceedsTheDelay, ()) {
  const Millis first = *any_delay(1);
  const Millis cap = *any_delay(first.count());
  const int attempt = *rc::gen::inRange(1, 100);
  const Millis most = delay(Exponential{first, 2, cap, Jitter::none()}, attempt);
  const Millis wait = delay(Exponential{first, 2, cap, Jitter::full()}, attempt, *any_random());
  RC_ASSERT(wait >= 0ms);
  RC_ASSERT(wait <= most);
}

RC_GTEST_PROP(Jitter, DecorrelatedStaysBetweenFirstAndCap, ()) {
  const Millis first = *any_delay(1);
  const Millis cap = *any_delay(first.count());
  const Millis last = *any_delay();
  const Millis wait = delay(Linear{first, 1s, cap, Jitter::decorrelated()}, 3, *any_random(), last);
  RC_ASSERT(wait >= first);
  RC_ASSERT(wait <= cap);
  RC_ASSERT(wait <= 3 * std::max(first, last));
}

}  // namespace
}  // namespace easyretry::policy
