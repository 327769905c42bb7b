#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/detail/json_text.h>

#include "support/refusal.h"

namespace easyretry {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

using test::refusal;

std::string parse_refusal(const std::string& text) {
  return refusal([&] { JsonDocument::parse(text); });
}

TEST(JsonDocument, TellsTheKindOfAValue) {
  const auto document = JsonDocument::parse(R"([null,true,-1,18446744073709551615,0.5,"x",[],{}])");
  const JsonKind kinds[] = {JsonKind::null,   JsonKind::boolean, JsonKind::integer, JsonKind::integer,
                            JsonKind::number, JsonKind::string,  JsonKind::array,   JsonKind::object};
  ASSERT_EQ(document.root().size(), std::size(kinds));
  for (std::size_t i = 0; i < std::size(kinds); ++i) EXPECT_EQ(document.root().at(i).kind(), kinds[i]) << i;
}

TEST(JsonDocument, KeepsIntegersExact) {
  const auto document = JsonDocument::parse("[9007199254740993,-9223372036854775808,18446744073709551615,-0]");
  EXPECT_EQ(document.root().at(0).as_int(), 9007199254740993);
  EXPECT_EQ(document.root().at(1).as_int(), INT64_MIN);
  EXPECT_EQ(document.root().at(2).as_uint(), UINT64_MAX);
  EXPECT_EQ(document.root().at(3).as_uint(), 0U);
}

TEST(JsonDocument, ReadsAnIntegerWhereANumberIsWanted) {
  EXPECT_EQ(JsonDocument::parse("2").root().as_double(), 2.0);
  EXPECT_EQ(JsonDocument::parse("-2").root().as_double(), -2.0);
}

TEST(JsonDocument, FindsMembersAndListsThemSorted) {
  const auto document = JsonDocument::parse(R"( { "b" : 2, "a" : 1, "c" : { } } )");
  EXPECT_EQ(document.root().find("b")->as_int(), 2);
  EXPECT_FALSE(document.root().find("d"));
  std::string keys;
  for (const auto [key, value] : document.root().members()) keys += std::string{key} + value.path() + " ";
  EXPECT_EQ(keys, "a$.a b$.b c$.c ");
}

TEST(JsonDocument, ViewsOutliveAMoveOfTheDocument) {
  auto document = JsonDocument::parse(R"({"a":"text"})");
  const JsonView view = *document.root().find("a");
  const JsonDocument moved = std::move(document);
  EXPECT_EQ(view.as_string(), "text");
}

TEST(JsonDocument, NamesThePathAndWhatWasExpectedAndFound) {
  const auto document = JsonDocument::parse(R"([{"amount":"x","an odd key":[true,300]}])");
  const JsonView order = document.root().at(0);
  EXPECT_EQ(refusal([&] { order.find("amount")->as_int(); }), "$[0].amount: expected an integer, found a string");
  EXPECT_EQ(refusal([&] { order.find("an odd key")->at(0).as_string(); }),
            "$[0][\"an odd key\"][0]: expected a string, found a boolean");
  EXPECT_EQ(refusal([&] { order.find("an odd key")->at(2); }),
            "$[0][\"an odd key\"]: expected an array of at least 3, found an array of 2");
  EXPECT_EQ(refusal([&] { document.root().find("x"); }), "$: expected an object, found an array of 1");
  EXPECT_EQ(refusal([&] { order.fail_missing("id"); }), "$[0].id: missing");
}

TEST(JsonDocument, RefusesNumbersOutsideTheAskedType) {
  const auto document = JsonDocument::parse("[9223372036854775808,-1,1.5,18446744073709551616]");
  EXPECT_THAT(refusal([&] { document.root().at(0).as_int(); }), EndsWith("up to 9223372036854775807, found another"));
  EXPECT_THAT(refusal([&] { document.root().at(1).as_uint(); }), EndsWith("not negative, found another"));
  EXPECT_THAT(refusal([&] { document.root().at(2).as_int(); }), EndsWith("found a number"));
  EXPECT_THAT(refusal([&] { document.root().at(3).as_uint(); }), EndsWith("found a number"));
}

TEST(JsonDocument, RefusesTextThatIsNotJsonWithItsPosition) {
  EXPECT_THAT(parse_refusal("[1,\n 2,x]"), AllOf(HasSubstr("line 2, column 4"), Not(HasSubstr("json.exception"))));
  for (const char* text :
       {"", " ", "[1,]", "{\"a\":1,}", "nul", "01", "+1", "1 2", "'a'", "{a:1}", "[1", "// c\n1", "\"\t\""}) {
    EXPECT_THAT(parse_refusal(text), HasSubstr("not JSON: parse error at line")) << text;
  }
}

TEST(JsonDocument, RefusesAZeroByte) {
  for (const std::size_t size : {4, 5, 6}) {
    EXPECT_THAT(parse_refusal(std::string("[1]\0 1", size)), HasSubstr("not JSON: a zero byte"));
  }
  EXPECT_THAT(parse_refusal(std::string("\"\0\"", 3)), HasSubstr("not JSON"));
}

TEST(JsonDocument, RefusesNanAndNumbersTooLarge) {
  EXPECT_THAT(parse_refusal("NaN"), HasSubstr("not JSON"));
  EXPECT_THAT(parse_refusal("-Infinity"), HasSubstr("not JSON"));
  EXPECT_EQ(parse_refusal("1e400"), "not JSON: number overflow");
  EXPECT_EQ(parse_refusal(std::string(600'000, '7')), "not JSON: number overflow");
}

TEST(JsonDocument, RefusesTextThatIsNotUtf8WithoutRepeatingIt) {
  EXPECT_THAT(parse_refusal("\"secret\xff\""), AllOf(HasSubstr("UTF-8"), Not(HasSubstr("secret"))));
  EXPECT_THAT(parse_refusal(R"("\ud800")"), HasSubstr("not JSON"));
}

TEST(JsonDocument, RefusesAKeyTwice) {
  EXPECT_EQ(parse_refusal(R"([0,{"x":{"a":1,"b":2,"a":3}}])"), "$[1].x: the key \"a\" twice in one object");
}

TEST(JsonDocument, RefusesMoreThan64Levels) {
  EXPECT_NO_THROW(JsonDocument::parse(std::string(64, '[') + std::string(64, ']')));
  EXPECT_THAT(parse_refusal(std::string(65, '[') + std::string(65, ']')), HasSubstr("deeper than 64 levels"));
  EXPECT_THAT(parse_refusal(std::string(1'000'000, '[')), HasSubstr("deeper than 64 levels"));
}

}  // namespace
}  // namespace easyretry
