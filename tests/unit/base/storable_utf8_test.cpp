#include <gtest/gtest.h>

#include "base/utf8.h"

namespace easyretry::base {
namespace {

TEST(StorableUtf8, KeepsWhatIsUtf8) {
  EXPECT_EQ(storable_utf8(""), "");
  EXPECT_EQ(storable_utf8("订单 ok"), "订单 ok");
}

TEST(StorableUtf8, ReplacesEachByteThatIsNotAndEachNul) {
  EXPECT_EQ(storable_utf8("a\xff\xfe!"), "a\uFFFD\uFFFD!");
  EXPECT_EQ(storable_utf8("cut \xE8\xAE"), "cut \uFFFD\uFFFD");
  EXPECT_EQ(storable_utf8(std::string_view{"a\0b", 3}), "a\uFFFDb");
}

}  // namespace
}  // namespace easyretry::base
