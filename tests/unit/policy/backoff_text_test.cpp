#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "policy/decide.h"
#include "support/refusal.h"

namespace easyretry::policy {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

std::string backoff_refusal(std::string_view text) {
  return test::refusal<std::invalid_argument>([&] { parse_backoff(text); });
}

TEST(BackoffText, SaysItAllInOneLine) {
  EXPECT_EQ(to_text(Exponential{}), "exponential first=1s factor=2 cap=15m jitter=1s");
  EXPECT_EQ(to_text(Fixed{}), "fixed delay=5s jitter=none");
  EXPECT_EQ(to_text(Linear{.jitter = Jitter::full()}), "linear first=1s step=1s cap=15m jitter=full");
  EXPECT_EQ(to_text(Ladder{{5s, 30s, 5min}, Jitter::decorrelated()}), "ladder steps=5s,30s,5m jitter=decorrelated");
  EXPECT_EQ(to_text(EasyRetryClassic{}), "classic");
}

TEST(BackoffText, ReadsFieldsInAnyOrderAndKeepsDefaults) {
  EXPECT_EQ(parse_backoff("exponential"), Backoff{Exponential{}});
  EXPECT_EQ(parse_backoff("  exponential  cap=1h first=2s "), (Backoff{Exponential{.first = 2s, .cap = 1h}}));
  EXPECT_EQ(parse_backoff("fixed delay=90s"), (Backoff{Fixed{.delay = 90s, .jitter = {}}}));
  EXPECT_EQ(parse_backoff("ladder steps=1s"), (Backoff{Ladder{1s}}));
}

TEST(BackoffText, NamesWhatIsWrong) {
  EXPECT_THAT(backoff_refusal(""), HasSubstr("exponential fixed linear ladder classic"));
  EXPECT_THAT(backoff_refusal("expo first=1s"),
              AllOf(HasSubstr("\"expo first=1s\""), HasSubstr("unknown kind \"expo\"")));
  EXPECT_THAT(backoff_refusal("fixed dealy=1s"),
              AllOf(HasSubstr("\"dealy=1s\""), HasSubstr("its fields are: delay jitter")));
  EXPECT_THAT(backoff_refusal("fixed delay=1s delay=2s"), HasSubstr("repeated field \"delay=2s\""));
  EXPECT_THAT(backoff_refusal("fixed delay"), HasSubstr("\"delay\""));
  EXPECT_THAT(backoff_refusal("fixed delay=1"), AllOf(HasSubstr("delay="), HasSubstr("no unit")));
  EXPECT_THAT(backoff_refusal("exponential factor=two"), HasSubstr("\"two\" is not a number"));
  EXPECT_THAT(backoff_refusal("exponential factor=2x"), HasSubstr("\"2x\" is not a number"));
  EXPECT_THAT(backoff_refusal("exponential jitter=some"), HasSubstr("jitter="));
  EXPECT_THAT(backoff_refusal("ladder steps=1s,,2s"), HasSubstr("steps="));
  EXPECT_THAT(backoff_refusal("classic first=1s"), HasSubstr("its fields are: none"));
}

TEST(BackoffText, RefusesValuesThatAPolicyMayNotHave) {
  EXPECT_THAT(backoff_refusal("ladder"), HasSubstr("at least one wait"));
  EXPECT_THAT(backoff_refusal("exponential factor=nan"), HasSubstr("factor"));
  EXPECT_THAT(backoff_refusal("linear first=1h cap=1s"), HasSubstr("must not be below first"));
}

RC_GTEST_PROP(BackoffText, ReadsBackEqual, ()) {
  const auto any = [] { return Millis{*rc::gen::inRange<std::int64_t>(1, 100'000'000)}; };
  const Jitter jitter = *rc::gen::element(Jitter::none(), Jitter::full(), Jitter::decorrelated(), Jitter{any()});
  const Millis first = any();
  const double factor = 1 + *rc::gen::inRange(0, 1'000'000) / 777.0;
  const Backoff backoff = *rc::gen::element<Backoff>(Exponential{first, factor, first + any(), jitter},
                                                     Fixed{first, jitter}, Linear{first, any(), first + any(), jitter},
                                                     Ladder{{any(), any(), any()}, jitter}, EasyRetryClassic{});
  RC_ASSERT(parse_backoff(to_text(backoff)) == backoff);
}

}  // namespace
}  // namespace easyretry::policy
