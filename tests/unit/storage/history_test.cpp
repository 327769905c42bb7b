#include "storage/history.h"

#include <gtest/gtest.h>

namespace easyretry::storage {
namespace {

TEST(HistoryModes, AreWrittenAndReadByName) {
  for (const History mode : {History::none, History::failures, History::all}) {
    EXPECT_EQ(parse_history(to_string(mode)), mode);
  }
  EXPECT_EQ(parse_history("failures"), History::failures);
  EXPECT_FALSE(parse_history(""));
  EXPECT_FALSE(parse_history("ALL"));
  EXPECT_FALSE(parse_history("some"));
}

TEST(HistoryModes, NeverLoseTheDead) {
  for (const History mode : {History::none, History::failures, History::all}) {
    EXPECT_TRUE(keeps(mode, Outcome::quarantined));
    EXPECT_TRUE(keeps(mode, Outcome::parked));
  }
}

TEST(HistoryModes, KeepNothingFailuresOrAll) {
  EXPECT_TRUE(keeps(History::all, Outcome::succeeded));
  EXPECT_FALSE(keeps(History::failures, Outcome::succeeded));
  EXPECT_FALSE(keeps(History::none, Outcome::succeeded));
  for (const Outcome failure : {Outcome::exhausted, Outcome::rejected, Outcome::cancelled}) {
    EXPECT_TRUE(keeps(History::all, failure));
    EXPECT_TRUE(keeps(History::failures, failure));
    EXPECT_FALSE(keeps(History::none, failure));
  }
}

}  // namespace
}  // namespace easyretry::storage
