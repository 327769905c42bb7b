#include "base/json_copy.h"

#include <gtest/gtest.h>

namespace easyretry::base {
namespace {

std::string canonical(std::string_view text) {
  return canonical_json(JsonDocument::parse(text).root());
}

TEST(JsonCopy, KeepsIntegersOf64BitsExact) {
  EXPECT_EQ(canonical("[-9223372036854775808, -1, -0, 0, 1, 9223372036854775807, 9223372036854775808, "
                      "18446744073709551615]"),
            "[-9223372036854775808,-1,0,0,1,9223372036854775807,9223372036854775808,18446744073709551615]");
}

TEST(JsonCopy, WritesOtherNumbersInTheFewestDigits) {
  EXPECT_EQ(canonical("[18446744073709551616, -9223372036854775809, 1.50, -0.0, 1e-400]"),
            "[18446744073709551616,-9223372036854775808,1.5,0,0]");
}

TEST(JsonCopy, SortsKeys) {
  EXPECT_EQ(canonical(R"({"b": {"d": 1, "c": [{"f": null, "e": true}]}, "a": "\u00e9\n"})"),
            R"({"a":"é\n","b":{"c":[{"e":true,"f":null}],"d":1}})");
}

}  // namespace
}  // namespace easyretry::base
