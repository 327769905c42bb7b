#include <future>
#include <new>
#include <stdexcept>
#include <typeinfo>

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

TEST(PolicyOf, IsTheDefaultsForAllThatARegisteredPolicyLeavesOpen) {
  const Config config = parse_config(
      "defaults: {backoff: fixed delay=2s, max_attempts: 3, max_duration: 3s, deadline: 2030-01-01, success_when: "
      "result.ok}");
  const Policy policy = policy_of(config, "a", Policy{.stop = {.max_attempts = 9}});
  EXPECT_EQ(policy.stop, (Stop{9, 3s, config.defaults.policy.deadline}));
  EXPECT_EQ(policy.backoff, (Backoff{Fixed{2s}}));
  EXPECT_EQ(policy.success_when.text(), "result.ok");
}

TEST(PolicyOf, NoLimitInCodeIsAWordAgainstTheLimitsOfTheDefaults) {
  const Config config = parse_config("defaults: {max_attempts: 3, max_duration: 3s}");
  EXPECT_EQ(policy_of(config, "a", Policy{.stop = {.max_attempts = 0, .max_duration = 0s}}).stop, (Stop{0, 0s, {}}));
}

TEST(PolicyOf, ATypedConditionInCodeTakesThePlaceOfTheExpressionOfTheDefaults) {
  const Config config = parse_config("{defaults: {success_when: result.ok}, handlers: {b: {success_when: result.b}}}");
  const Policy registered{.success_when = [](const int& code) { return code == 200; }};
  EXPECT_EQ(policy_of(config, "a", registered).success_when.expression(), nullptr);
  EXPECT_TRUE(policy_of(config, "a", registered).success_when.typed());
  EXPECT_EQ(policy_of(config, "b", registered).success_when.text(), "result.b");
  EXPECT_TRUE(policy_of(config, "b", registered).success_when.typed());
}

std::vector<std::string_view> names_of(const std::vector<ExceptionType>& types) {
  std::vector<std::string_view> found;
  for (const ExceptionType& type : types) found.push_back(type.name);
  return found;
}

TEST(PolicyOf, ExceptionListsAddUp) {
  const Config config = parse_config(R"(
defaults: {retry_on: [Timeout], never_retry: [std::invalid_argument]}
handlers: {pay: {retry_on: [std::bad_alloc, Timeout], never_retry: [std::bad_cast]}}
)");
  const Policy registered{.retry_on = {type<std::future_error>()}, .never_retry = {type<std::domain_error>()}};
  const Policy policy = policy_of(config, "pay", registered, names());
  EXPECT_THAT(names_of(policy.retry_on), ElementsAre("bank::Timeout", "std::future_error", "std::bad_alloc"));
  EXPECT_THAT(names_of(policy.never_retry), ElementsAre("std::invalid_argument", "std::domain_error", "std::bad_cast"));
}

TEST(PolicyOf, ATypeThatANearerLevelWantsRetriedIsNoLongerForbiddenByTheOthers) {
  const Config config = parse_config("{defaults: {never_retry: [Timeout]}, handlers: {b: {never_retry: [Timeout]}}}");
  const Policy wants{.retry_on = {type<bank::Timeout>()}};
  const auto thrown = std::make_exception_ptr(bank::Timeout{});
  EXPECT_TRUE(worth_retrying(policy_of(config, "a", wants, names()), thrown));
  EXPECT_FALSE(worth_retrying(policy_of(config, "b", wants, names()), thrown)) << "its entry is nearer";
  EXPECT_FALSE(worth_retrying(policy_of(config, "b", wants, names()), std::make_exception_ptr(1)))
      << "the list of what is retried stays";
}

TEST(PolicyOf, AnEmptyListInAnEntryOverridesTheOthers) {
  const Config config =
      parse_config("{defaults: {never_retry: [Timeout]}, handlers: {a: {never_retry: [], retry_on: []}}}");
  const Policy policy = policy_of(config, "a", Policy{.retry_on = {type<std::bad_alloc>()}}, names());
  EXPECT_THAT(policy.never_retry, IsEmpty());
  EXPECT_THAT(policy.retry_on, IsEmpty());
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
