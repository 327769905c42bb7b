// White space before a text does not change its meaning, but makes the full parser read it. So both can be compared
// from outside.

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <easyretry/detail/json_text.h>

namespace easyretry {
namespace {

void write(JsonWriter& out, JsonView in) {
  switch (in.kind()) {
    case JsonKind::null: return out.null();
    case JsonKind::boolean: return out.boolean(in.as_bool());
    case JsonKind::integer: return in.as_double() < 0 ? out.integer(in.as_int()) : out.unsigned_integer(in.as_uint());
    case JsonKind::number: return out.number(in.as_double());
    case JsonKind::string: return out.string(in.as_string());
    case JsonKind::array:
      out.begin_array();
      for (std::size_t i = 0; i < in.size(); ++i) write(out, in.at(i));
      return out.end_array();
    case JsonKind::object:
      out.begin_object();
      for (const auto [key, value] : in.members()) {
        out.key(key);
        write(out, value);
      }
      return out.end_object();
  }
}

std::string reading_of(const std::string& text) {
  try {
    const auto document = JsonDocument::parse(text);
    JsonWriter out;
    write(out, document.root());
    return out.take();
  } catch (const JsonError&) {
    return "refused";
  }
}

TEST(CanonicalReader, ReadsLikeTheFullParser) {
  for (const std::string text : {"0",
                                 "-0",
                                 "00",
                                 "01",
                                 "-",
                                 "-01",
                                 "1.",
                                 ".5",
                                 "1.5",
                                 "-1.5e+3",
                                 "1e",
                                 "1e+",
                                 "1E5",
                                 "0.1",
                                 "1e400",
                                 "1e-400",
                                 "4.9406564584124654e-324",
                                 "9007199254740993",
                                 "9223372036854775807",
                                 "9223372036854775808",
                                 "-9223372036854775808",
                                 "-9223372036854775809",
                                 "18446744073709551615",
                                 "18446744073709551616",
                                 "+1",
                                 "inf",
                                 "nan",
                                 "0x10",
                                 "1 ",
                                 "1,",
                                 "true",
                                 "truex",
                                 "tru",
                                 "null",
                                 "nul",
                                 "false",
                                 "\"\"",
                                 "\"a\"",
                                 "\"a",
                                 "\"\\u0041\"",
                                 "\"\t\"",
                                 "\"\x7f\"",
                                 "\"\xc3\xa9\"",
                                 "\"\xc3\"",
                                 "\"\xed\xa0\x80\"",
                                 "[]",
                                 "[1]",
                                 "[1,]",
                                 "[,1]",
                                 "[1 ,2]",
                                 "[",
                                 "]",
                                 "{}",
                                 "{\"a\":1}",
                                 "{\"b\":1,\"a\":2}",
                                 "{\"a\":1,\"a\":2}",
                                 "{\"a\":1,}",
                                 "{\"a\"}",
                                 "{a:1}",
                                 "{\"a\":}",
                                 "{",
                                 "[[[{\"a\":[{}]}]]]",
                                 "{\"a\\\"\":1}",
                                 "",
                                 "[1]]"}) {
    EXPECT_EQ(reading_of(text), reading_of(" " + text)) << text;
  }
  EXPECT_EQ(reading_of(std::string("\"a\0b\"", 5)), "refused");
  EXPECT_EQ(reading_of(std::string("[1]\0", 4)), "refused");
}

RC_GTEST_PROP(CanonicalReader, ReadsEveryNumberLikeTheFullParser, (double number, std::int64_t integer)) {
  JsonWriter out;
  out.begin_array();
  out.number(number);
  out.integer(integer);
  out.end_array();
  const std::string text = out.take();
  RC_ASSERT(reading_of(text) == reading_of(" " + text));
  RC_ASSERT(reading_of(text) == text);
}

RC_GTEST_PROP(CanonicalReader, ReadsMutationsLikeTheFullParser, ()) {
  std::string text = R"({"amount":-12.5e3,"id":[42,{"name":"alice é","ok":true}],"none":null})";
  const int edits = *rc::gen::inRange(1, 4);
  for (int i = 0; i < edits; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size() + 1);
    const auto count = *rc::gen::inRange<std::size_t>(0, 3);
    const auto piece = rc::gen::element<std::string>("", "0", "1", "-", ".", "e", "\"", "\\", ",", ":", "{", "}", "[",
                                                     "]", " ", "null", "\xff", "\x01");
    text.replace(at, count, *piece);
  }
  RC_ASSERT(reading_of(text) == reading_of(" " + text));
}

}  // namespace
}  // namespace easyretry
