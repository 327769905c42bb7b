#include "base/nearest.h"

#include <string>

#include <gtest/gtest.h>

namespace easyretry::base {
namespace {

TEST(Nearest, FindsTheWordThatWasMeant) {
  EXPECT_EQ(nearest("histroy", {"history", "shards"}), "history");
  EXPECT_EQ(nearest("shard", {"history", "shards"}), "shards");
  EXPECT_EQ(nearest("sqllite", {"memory", "sqlite"}), "sqlite");
  EXPECT_EQ(nearest("hsah", {"single", "hash"}), "hash") << "letters that are swapped are one mistake";
}

TEST(Nearest, TakesABeginningForTheWholeWord) {
  EXPECT_EQ(nearest("warn", {"debug", "warning"}), "warning");
  EXPECT_EQ(nearest("mail", {"mail.send.receipts", "pay"}), "mail.send.receipts");
  EXPECT_FALSE(nearest("wa", {"debug", "warning"}));
}

TEST(Nearest, DoesNotGuessWildly) {
  EXPECT_FALSE(nearest("tcsh", {"bash", "zsh", "fish"})) << "half of its letters are others";
  EXPECT_FALSE(nearest("compression", {"history", "shards"}));
  EXPECT_FALSE(nearest("", {"all"}));
  EXPECT_FALSE(nearest("x", {}));
}

TEST(Nearest, IgnoresWordsThatAreTooLongForATypo) {
  EXPECT_TRUE(nearest(std::string(200, 'a'), {std::string(199, 'a')}));
  EXPECT_FALSE(nearest(std::string(201, 'a'), {std::string(200, 'a')}));
}

}  // namespace
}  // namespace easyretry::base
