#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/detail/json_text.h>

namespace easyretry {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string written(auto&& write) {
  JsonWriter out;
  write(out);
  return out.take();
}

std::string write_refusal(auto&& write) {
  try {
    return "accepted: " + written(write);
  } catch (const JsonError& error) {
    return error.what();
  }
}

TEST(JsonWriter, WritesScalarsWithoutWhiteSpace) {
  EXPECT_EQ(written([](auto& out) { out.null(); }), "null");
  EXPECT_EQ(written([](auto& out) { out.boolean(true); }), "true");
  EXPECT_EQ(written([](auto& out) { out.integer(INT64_MIN); }), "-9223372036854775808");
  EXPECT_EQ(written([](auto& out) { out.unsigned_integer(UINT64_MAX); }), "18446744073709551615");
}

TEST(JsonWriter, WritesNumbersInTheFewestDigits) {
  EXPECT_EQ(written([](auto& out) { out.number(0.1); }), "0.1");
  EXPECT_EQ(written([](auto& out) { out.number(0.1f); }), "0.1");
  EXPECT_EQ(written([](auto& out) { out.number(2.0); }), "2");
  EXPECT_EQ(written([](auto& out) { out.number(1e300); }), "1e+300");
  EXPECT_EQ(written([](auto& out) { out.number(-0.0); }), "0");
  EXPECT_EQ(written([](auto& out) { out.number(-0.0f); }), "0");
}

TEST(JsonWriter, WritesTheOneFloatThatNeedsMoreDigitsToReadBackEqual) {
  const float value = 0x1.5c87fap-84f;
  const auto text = written([&](auto& out) { out.number(value); });
  EXPECT_EQ(text, "7.038530691851209e-26");
  EXPECT_EQ(static_cast<float>(JsonDocument::parse(text).root().as_double()), value);
}

TEST(JsonWriter, EscapesOnlyAsNeeded) {
  EXPECT_EQ(written([](auto& out) { out.string("a\"b\\c/d\n\t\r\b\f\x01\x1f\x7f 中😀"); }),
            "\"a\\\"b\\\\c/d\\n\\t\\r\\b\\f\\u0001\\u001f\x7f 中😀\"");
  EXPECT_EQ(written([](auto& out) { out.string(std::string_view{"\0", 1}); }), "\"\\u0000\"");
}

TEST(JsonWriter, SortsKeysByTheirBytes) {
  const auto text = written([](auto& out) {
    out.begin_object();
    out.key("b");
    out.begin_object();
    out.key("é");
    out.integer(1);
    out.key("z");
    out.begin_array();
    out.end_array();
    out.end_object();
    out.key("a,\"");
    out.integer(2);
    out.key("B");
    out.integer(3);
    out.key("");
    out.integer(4);
    out.end_object();
  });
  EXPECT_EQ(text, "{\"\":4,\"B\":3,\"a,\\\"\":2,\"b\":{\"z\":[],\"é\":1}}");
}

TEST(JsonWriter, RefusesAKeyTwice) {
  for (const auto& keys : {std::vector{"a", "a"}, std::vector{"a", "b", "a"}}) {
    EXPECT_THAT(write_refusal([&](auto& out) {
                  out.begin_object();
                  for (const char* key : keys) {
                    out.key(key);
                    out.null();
                  }
                  out.end_object();
                }),
                HasSubstr("\"a\" twice"));
  }
}

TEST(JsonWriter, RefusesValuesThatJsonCannotHoldAndSaysWhere) {
  const auto amount = [](double value) {
    return [value](auto& out) {
      out.begin_array();
      out.null();
      out.begin_object();
      out.key("amount");
      out.number(value);
    };
  };
  EXPECT_THAT(write_refusal(amount(std::nan(""))), StartsWith("$[1].amount: NaN"));
  EXPECT_THAT(write_refusal(amount(-std::numeric_limits<double>::infinity())), StartsWith("$[1].amount: infinity"));
}

TEST(JsonWriter, RefusesTextThatIsNotUtf8) {
  for (const char* text : {"\xff", "ab\xc3", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                           "\xe4\xb8(", "\x80", "\xf5\x80\x80\x80"}) {
    EXPECT_THAT(write_refusal([&](auto& out) { out.string(text); }), HasSubstr("not UTF-8"));
  }
  EXPECT_THAT(write_refusal([](auto& out) { out.string("abc\xff"); }), HasSubstr("byte 3"));
}

TEST(JsonWriter, AcceptsTheEdgesOfUtf8) {
  for (const char* text : {"\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                           "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(written([&](auto& out) { out.string(text); }), "\"" + std::string{text} + "\"");
  }
}

TEST(JsonWriter, RefusesCallsThatMakeNoValue) {
  EXPECT_THAT(write_refusal([](auto&) {}), HasSubstr("nothing was written"));
  EXPECT_THAT(write_refusal([](auto& out) { out.begin_array(); }), HasSubstr("not ended"));
  EXPECT_THAT(write_refusal([](auto& out) { out.key("a"); }), HasSubstr("outside an object"));
  EXPECT_THAT(write_refusal([](auto& out) { out.end_array(); }), HasSubstr("not begun"));
  const auto twice = [](auto& out) {
    out.null();
    out.null();
  };
  EXPECT_THAT(write_refusal(twice), HasSubstr("second value"));
  const auto in_object = [](auto&& write) {
    return [&write](auto& out) {
      out.begin_object();
      write(out);
      out.end_object();
    };
  };
  EXPECT_THAT(write_refusal(in_object([](auto& out) { out.null(); })), HasSubstr("without a key"));
  EXPECT_THAT(write_refusal(in_object([](auto& out) { out.key("a"); })),
              HasSubstr("$.a: JsonWriter: a key without a value"));
  EXPECT_THAT(write_refusal(in_object([](auto& out) { out.end_array(); })), HasSubstr("not begun"));
  const auto two_keys = [](auto& out) {
    out.key("a");
    out.key("b");
  };
  EXPECT_THAT(write_refusal(in_object(two_keys)), HasSubstr("where its value should be"));
}

TEST(JsonWriter, GoesAsDeepAsTheReader) {
  const auto nested = [](std::size_t depth) {
    return [depth](auto& out) {
      for (std::size_t i = 0; i < depth; ++i) out.begin_array();
      for (std::size_t i = 0; i < depth; ++i) out.end_array();
    };
  };
  EXPECT_NO_THROW(JsonDocument::parse(written(nested(kJsonDepth))));
  EXPECT_THAT(write_refusal(nested(kJsonDepth + 1)), HasSubstr("deeper than 64 levels"));
}

TEST(JsonWriter, StartsOverAfterTake) {
  JsonWriter out;
  out.integer(1);
  EXPECT_EQ(out.take(), "1");
  out.integer(2);
  EXPECT_EQ(out.take(), "2");
}

}  // namespace
}  // namespace easyretry
