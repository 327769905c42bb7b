#include <cmath>
#include <limits>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/policy.h>

#include "policy/limits.h"
#include "support/refusal.h"

namespace easyretry {
namespace {

using namespace std::chrono_literals;
using policy::kLongestDelay;
using testing::AllOf;
using testing::HasSubstr;

std::string refusal(const Policy& policy) {
  return test::refusal<std::invalid_argument>([&] { validate(policy); });
}

std::string refusal(const Backoff& backoff) {
  return refusal(Policy{.backoff = backoff});
}

auto names(const std::string& field_and_value, const std::string& remedy) {
  return AllOf(HasSubstr(field_and_value), HasSubstr(remedy));
}

TEST(Validate, AcceptsTheDefaults) {
  EXPECT_EQ(refusal(Policy{}), "accepted");
  EXPECT_EQ(refusal(Fixed{}), "accepted");
  EXPECT_EQ(refusal(Linear{}), "accepted");
  EXPECT_EQ(refusal(EasyRetryClassic{}), "accepted");
}

TEST(Validate, AcceptsTheEdges) {
  EXPECT_EQ(refusal(Fixed{0ms, {}}), "accepted");
  EXPECT_EQ(refusal(Fixed{kLongestDelay, kLongestDelay}), "accepted");
  EXPECT_EQ(refusal(Exponential{.first = 1ms, .factor = 1, .cap = 1ms, .jitter = {}}), "accepted");
  EXPECT_EQ(refusal(Policy{.stop = {.max_attempts = 0}}), "accepted");
  EXPECT_EQ(refusal(Policy{.stop = {.max_attempts = 1'000'000}}), "accepted");
}

TEST(Validate, RefusesNegativeDelays) {
  EXPECT_THAT(refusal(Fixed{-5s, {}}), names("policy.backoff.delay = -5s", "0 or more"));
  EXPECT_THAT(refusal(Fixed{5s, -1s}), names("policy.backoff.jitter = -1s", "0 or more"));
  EXPECT_THAT(refusal(Linear{.first = -1s}), names("policy.backoff.first = -1s", "0 or more"));
  EXPECT_THAT(refusal(Linear{.step = -1s}), names("policy.backoff.step = -1s", "0 or more"));
  EXPECT_THAT(refusal(Exponential{.first = -1s}), names("policy.backoff.first = -1s", "0 or more"));
  EXPECT_THAT(refusal(Ladder{5s, -1ms}), names("policy.backoff.steps[1] = -1ms", "0 or more"));
}

TEST(Validate, RefusesDelaysOfMoreThanTenYears) {
  EXPECT_THAT(refusal(Fixed{kLongestDelay + 1ms, {}}), names("policy.backoff.delay", "at most ten years"));
  EXPECT_THAT(refusal(Exponential{.cap = Millis::max()}), names("policy.backoff.cap", "at most ten years"));
  EXPECT_THAT(refusal(Exponential{.jitter = Millis::max()}), names("policy.backoff.jitter", "at most ten years"));
  EXPECT_THAT(refusal(Ladder{Millis::max()}), names("policy.backoff.steps[0]", "at most ten years"));
}

TEST(Validate, RefusesAnExponentialThatCannotGrow) {
  EXPECT_THAT(refusal(Exponential{.first = 0s}), names("policy.backoff.first = 0s", "1ms or more"));
  EXPECT_THAT(refusal(Exponential{.factor = 0.5}), names("policy.backoff.factor = 0.5", "1 or more"));
  EXPECT_THAT(refusal(Exponential{.factor = std::nan("")}), names("policy.backoff.factor = nan", "1 or more"));
  EXPECT_THAT(refusal(Exponential{.factor = std::numeric_limits<double>::infinity()}),
              names("policy.backoff.factor = inf", "1 or more"));
}

TEST(Validate, RefusesACapBelowTheFirstDelay) {
  EXPECT_THAT(refusal(Exponential{.first = 1min, .cap = 1s}), names("policy.backoff.cap = 1s", "below first = 1m"));
  EXPECT_THAT(refusal(Linear{.first = 1min, .cap = 1s}), names("policy.backoff.cap = 1s", "below first = 1m"));
}

TEST(Validate, RefusesAnEmptyLadder) {
  EXPECT_THAT(refusal(Ladder{}), names("policy.backoff.steps = {}", "Ladder{5s, 30s}"));
}

TEST(Validate, RefusesAbsurdLimits) {
  EXPECT_THAT(refusal(Policy{.stop = {.max_attempts = -1}}), names("policy.stop.max_attempts = -1", "1 to 1000000"));
  EXPECT_THAT(refusal(Policy{.stop = {.max_attempts = 1'000'001}}), names("max_attempts = 1000001", "0 for no limit"));
  EXPECT_THAT(refusal(Policy{.stop = {.max_duration = -1h}}),
              names("policy.stop.max_duration = -1h", "0 for no limit"));
}

TEST(Validate, RefusesAManuallyBuiltExceptionType) {
  EXPECT_THAT(refusal(Policy{.retry_on = {ExceptionType{}}}), names("policy.retry_on[0]", "type<E>()"));
  EXPECT_THAT(refusal(Policy{.never_retry = {type<std::logic_error>(), ExceptionType{}}}),
              names("policy.never_retry[1]", "type<E>()"));
}

TEST(Validate, ASuccessConditionWithATypoThrowsWhereItIsWritten) {
  EXPECT_EQ(refusal(Policy{.success_when = "result.code == 200"}), "accepted");
  try {
    const Policy policy{.success_when = "result.code = 200"};
    FAIL() << "it was accepted";
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), names("policy.success_when = \"result.code = 200\"", "such as result.code == 200"));
  }
}

}  // namespace
}  // namespace easyretry
