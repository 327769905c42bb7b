#include "base/harmless.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <easyretry/detail/json_text.h>

#include "base/utf8.h"

namespace easyretry::base {
namespace {

TEST(OneLine, HasNoOtherLineInIt) {
  EXPECT_EQ(one_line("a\nb\r\nc\vd\fe"), "a b  c d e");
  EXPECT_EQ(one_line("a\u0085b\u2028c\u2029d"), "a b c d");
}

TEST(OneLine, DoesNotDriveATerminal) {
  EXPECT_EQ(one_line("\x1b[2Jgone\x07\x7f\b"), " [2Jgone   ");
  EXPECT_EQ(one_line("\u009b2J \u0080\u009f"), " 2J   ") << "the same escape as a single character";
  EXPECT_EQ(one_line("\u202egnp.exe\u202c \u2066x\u2069 \u200e\u200f\u061c"), " gnp.exe   x     ");
}

TEST(OneLine, KeepsTextInAnyLanguage) {
  for (const char* text :
       {"", "order-42", "Grüße, Ελλάδα, 漢字, שלום", "😀 \u00a0\u2027\u202f\u2065\u206a \U0010ffff"}) {
    EXPECT_EQ(one_line(text), text);
    EXPECT_EQ(several_lines(text), text);
    EXPECT_EQ(with_escapes(text), text);
  }
}

TEST(OneLine, IsUtf8) {
  EXPECT_EQ(one_line("a\xff\xc2"), "a\ufffd\ufffd");
  EXPECT_EQ(one_line("\xc2\x1b[2J"), "\ufffd [2J") << "a truncated character does not swallow the next byte";
}

TEST(SeveralLines, KeepTheirLineEnds) {
  EXPECT_EQ(several_lines("one\ntwo\x1b[2J\r\u2028"), "one\ntwo [2J  ");
}

TEST(TextWithEscapes, MeansTheSameInJson) {
  JsonWriter out;
  const std::string text = "\x1b[2J \x7f \u009b2J \u2028 \u202e \\u";
  out.string(text);
  const std::string line = with_escapes(out.take());
  EXPECT_EQ(line, R"("\u001b[2J \u007f \u009b2J \u2028 \u202e \\u")");
  EXPECT_EQ(JsonDocument::parse(line).root().as_string(), text);
}

RC_GTEST_PROP(OneLine, IsHarmlessWhateverItWasMadeOf, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::oneOf(
      rc::gen::arbitrary<char>(), rc::gen::elementOf(std::string{"\xc2\xe2\x80\x81\x9b\xa8\xae\x85\x1b\n"})));
  const std::string line = one_line(text);
  RC_ASSERT(invalid_utf8(line) == std::string::npos);
  RC_ASSERT(one_line(line) == line);
  for (const unsigned char c : line) RC_ASSERT(c >= 0x20 && c != 0x7f);
  RC_ASSERT(line.find("\u009b") == std::string::npos && line.find("\u2028") == std::string::npos);
}

}  // namespace
}  // namespace easyretry::base
