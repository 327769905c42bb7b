#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace bank {
struct Timeout {};
}  // namespace bank

namespace easyretry::config {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

const ExceptionNames& names() {
  static const ExceptionNames known{type<bank::Timeout>()};
  return known;
}

TEST(PolicyPatch, WithoutFieldsChangesNothing) {
  const Policy policy{
      .backoff = Fixed{}, .stop = {.max_attempts = 3}, .retry_on = {type<bank::Timeout>()}, .success_when = "result"};
  const Policy same = patched(policy, {});
  EXPECT_EQ(same.backoff, policy.backoff);
  EXPECT_EQ(same.stop, policy.stop);
  EXPECT_THAT(same.retry_on, SizeIs(1));
  EXPECT_EQ(same.success_when.text(), "result");
}

TEST(PolicyPatch, PutsItsFieldsInPlace) {
  const TimePoint noon{Millis{1}};
  const Policy policy = patched(Policy{.retry_on = {type<bank::Timeout>()}},
                                {.backoff = Fixed{},
                                 .max_attempts = 3,
                                 .max_duration = 4s,
                                 .deadline = noon,
                                 .retry_on = {{}},
                                 .never_retry = {{{"Timeout"}, {"std::bad_alloc"}}},
                                 .success_when = "result.ok"},
                                names());
  EXPECT_EQ(policy.backoff, Backoff{Fixed{}});
  EXPECT_EQ(policy.stop, (Stop{3, 4s, noon}));
  EXPECT_THAT(policy.retry_on, IsEmpty());
  ASSERT_THAT(policy.never_retry, SizeIs(2));
  EXPECT_EQ(policy.never_retry[0].name, "bank::Timeout");
  EXPECT_FALSE(worth_retrying(policy, std::make_exception_ptr(bank::Timeout{})));
  EXPECT_EQ(policy.success_when.text(), "result.ok");
  EXPECT_NO_THROW(validate(policy));
}

TEST(PolicyPatch, NamesEveryUnknownTypeWhereItIsWritten) {
  const Config config =
      parse_config("defaults:\n  retry_on: [Timeuot, std::exception]\n  never_retry:\n    - Bad\n", "a.yaml");
  try {
    patched({}, config.defaults.policy, names());
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.problems(),
                ElementsAre(AllOf(StartsWith("a.yaml:2:14: exception type \"Timeuot\" is not known, did you mean "
                                             "bank::Timeout? Known are std::exception, "),
                                  HasSubstr("ExceptionNames")),
                            StartsWith("a.yaml:4:7: exception type \"Bad\" is not known")));
  }
}

TEST(PolicyOf, IsTheHandlersOwnWordOverItsRegistration) {
  const Config config =
      parse_config("{defaults: {max_attempts: 3, max_duration: 3s}, handlers: {a: {max_attempts: 5}}}");
  const Policy registered{.backoff = Fixed{}, .stop = {.max_attempts = 9, .max_duration = 9s}};
  const Policy policy = policy_of(config, "a", registered);
  EXPECT_EQ(policy.stop, (Stop{5, 9s, {}}));
  EXPECT_EQ(policy.backoff, Backoff{Fixed{}});
  EXPECT_EQ(policy_of(config, "b", registered).stop, registered.stop);
}

TEST(PolicyOf, IsTheDefaultsWhereNothingWasRegistered) {
  const Config config =
      parse_config("{defaults: {max_attempts: 3, max_duration: 3s}, handlers: {a: {max_attempts: 5}}}");
  EXPECT_EQ(policy_of(config, "a", {}).stop, (Stop{5, 3s, {}}));
  EXPECT_EQ(policy_of(config, "b", {}).stop, (Stop{3, 3s, {}}));
  EXPECT_EQ(policy_of(Config{}, "b", {}).stop, Stop{});
}

}  // namespace
}  // namespace easyretry::config
