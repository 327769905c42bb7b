#include "base/utf8.h"

#include <gtest/gtest.h>

namespace easyretry::base {
namespace {

TEST(StorableUtf8, KeepsValidUtf8) {
  EXPECT_EQ(storable_utf8(""), "");
  EXPECT_EQ(storable_utf8("订单 ok"), "订单 ok");
}

TEST(StorableUtf8, ReplacesEachByteThatIsNotAndEachNul) {
  EXPECT_EQ(storable_utf8("a\xff\xfe!"), "a\uFFFD\uFFFD!");
  EXPECT_EQ(storable_utf8("cut \xE8\xAE"), "cut \uFFFD\uFFFD");
  EXPECT_EQ(storable_utf8(std::string_view{"a\0b", 3}), "a\uFFFDb");
}

TEST(CutUtf8, CutsNoCharacter) {
  EXPECT_EQ(cut_utf8("订单", 6), "订单");
  EXPECT_EQ(cut_utf8("订单", 5), "订");
  EXPECT_EQ(cut_utf8("订单", 3), "订");
  EXPECT_EQ(last_utf8("订单", 6), "订单");
  EXPECT_EQ(last_utf8("订单", 5), "单");
  EXPECT_EQ(last_utf8("订单", 3), "单");
}

TEST(CutUtf8, CutsInvalidUtf8AtTheSameLength) {
  const std::string bytes(100, '\x80');
  EXPECT_EQ(cut_utf8(bytes, 10).size(), 10U);
  EXPECT_EQ(last_utf8(bytes, 10).size(), 10U);
}

}  // namespace
}  // namespace easyretry::base
