#include "storage/layout.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/refusal.h"

namespace easyretry::storage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using test::refusal;

std::string refused_text(std::string_view text) {
  return refusal([&] { parse_layout(text); });
}

std::string refused(const Layout& layout, int total_shards) {
  return refusal([&] { validate(layout, total_shards); });
}

TEST(Layouts, AreWrittenAndRead) {
  const std::pair<Layout, const char*> written[] = {
      {Layout::single(), "single"},
      {Layout::hash(16), "hash(16)"},
      {Layout::period(PeriodLength::month, 2), "period(month,2)"},
      {Layout::period(PeriodLength::half_month, 4), "period(half_month,4)"},
      {Layout::period(PeriodLength::week), "period(week,1)"},
      {Layout::period(PeriodLength::day, 64), "period(day,64)"},
  };
  for (const auto& [layout, text] : written) {
    EXPECT_EQ(to_text(layout), text);
    EXPECT_EQ(parse_layout(text), layout) << text;
  }
}

TEST(Layouts, APeriodAloneHasOneTable) {
  EXPECT_EQ(parse_layout("period(day)"), Layout::period(PeriodLength::day, 1));
}

TEST(Layouts, DifferInKindLengthAndTables) {
  EXPECT_NE(Layout::single(), Layout::hash(1));
  EXPECT_NE(Layout::hash(2), Layout::period(PeriodLength::month, 2));
  EXPECT_NE(Layout::period(PeriodLength::week), Layout::period(PeriodLength::day));
}

TEST(Layouts, AMistypedWordIsNamedWithASuggestion) {
  EXPECT_EQ(refused_text("hsah(16)"),
            "unknown layout \"hsah\" in hsah(16); known are single, hash, period; did you mean \"hash\"?");
  EXPECT_EQ(refused_text("period(mouth,2)"),
            "unknown period \"mouth\" in period(mouth,2); known are month, half_month, week, day; "
            "did you mean \"month\"?");
}

TEST(Layouts, OtherTextIsRefusedWithExamples) {
  for (const auto* text : {"hash",           "hash(",           "hash()",           "hash(0)",
                           "hash(-1)",       "hash(016)",       "hash(16",          "hash(1 6)",
                           "hash(16))",      "hash(16) ",       "hash(0x10)",       "hash(99999999999)",
                           "hash(1,2)",      "single()",        "single(1)",        "period",
                           "period(month,)", "period(month,0)", "period(month, 2)", "period(month,2,3)"}) {
    EXPECT_THAT(refused_text(text), AllOf(HasSubstr("\"" + std::string{text} + "\""),
                                          HasSubstr("write single, hash(16) or period(month,2)")));
  }
  for (const auto* text : {"", " single", "Single", "(16)", "16", "period()", "period(,2)", "period(year)"}) {
    EXPECT_THAT(refused_text(text), HasSubstr("known are")) << text;
  }
}

TEST(Layouts, TablesDivideTheShards) {
  for (const int tables : {1, 2, 4, 8, 16, 32, 64}) {
    EXPECT_EQ(refused(Layout::hash(tables), 64), "accepted");
    EXPECT_EQ(refused(Layout::period(PeriodLength::month, tables), 64), "accepted");
  }
  EXPECT_EQ(refused(Layout::single(), 1), "accepted");
  EXPECT_EQ(refused(Layout::single(), 4096), "accepted");
}

TEST(Layouts, OthersAreRefusedWithTheNearestThatDo) {
  EXPECT_EQ(refused(Layout::hash(12), 64), "hash(12) does not divide 64 shards; use 8 or 16");
  EXPECT_EQ(refused(Layout::period(PeriodLength::day, 7), 60), "period(day,7) does not divide 60 shards; use 6 or 10");
  EXPECT_EQ(refused(Layout::hash(100), 64), "hash(100) does not divide 64 shards; use 64");
  EXPECT_EQ(refused(Layout::hash(0), 64), "hash(0) does not divide 64 shards; use 1");
  EXPECT_EQ(refused(Layout::hash(-3), 64), "hash(-3) does not divide 64 shards; use 1");
}

TEST(Layouts, ThereAreOneTo4096Shards) {
  EXPECT_EQ(refused(Layout::single(), 0), "0 shards; use 1 to 4096");
  EXPECT_EQ(refused(Layout::single(), 4097), "4097 shards; use 1 to 4096");
}

RC_GTEST_PROP(Layouts, AnyTextIsReadOrRefusedWithAReason, (const std::string& text)) {
  const std::string layout =
      *rc::gen::element(text, "hash(" + text + ")", "period(" + text + ")", "period(day," + text);
  try {
    const Layout read = parse_layout(layout);
    RC_ASSERT(parse_layout(to_text(read)) == read);
  } catch (const std::invalid_argument& error) {
    RC_ASSERT(std::string{error.what()}.find(layout) != std::string::npos);
  }
}

}  // namespace
}  // namespace easyretry::storage
