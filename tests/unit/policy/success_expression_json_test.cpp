// How success_when expressions read results and arguments.

#include <rapidcheck/gtest.h>

#include "unit/policy/success_answers.h"

namespace easyretry::policy {
namespace {

using ::testing::HasSubstr;

TEST(SuccessExpression, TurnsJsonIntoLua) {
  EXPECT_EQ(answer("result == nil", "null"), "yes");
  EXPECT_EQ(answer("result", "true"), "yes");
  EXPECT_EQ(answer("result == 'text'", "\"text\""), "yes");
  EXPECT_EQ(answer("#result == 3 and result[1] == 10 and result[3] == 30", "[10,20,30]"), "yes");
  EXPECT_EQ(answer("result[1] == 1 and result[2] == nil and result[3] == 3", "[1,null,3]"), "yes");
  EXPECT_EQ(
      answer("result.a.b[1].c == 0.5 and result['odd key'] == false", R"({"a":{"b":[{"c":0.5}]},"odd key":false})"),
      "yes");
}

TEST(SuccessExpression, KeepsIntegersExact) {
  EXPECT_EQ(answer("result == 9007199254740993", "9007199254740993"), "yes");
  EXPECT_EQ(answer("result == 9007199254740992", "9007199254740993"), "no");
  EXPECT_EQ(answer("result == -9223372036854775807 - 1", "-9223372036854775808"), "yes");
  EXPECT_EQ(answer("result == 9223372036854775807", "9223372036854775807"), "yes");
  EXPECT_EQ(answer("result == 2.0^64 - 2.0^0", "18446744073709551615"), "yes") << "above 2^63-1 a float";
}

TEST(SuccessExpression, TakesIntegersBeyond64BitsAsFloats) {
  EXPECT_EQ(answer("result == -2.0^63", "-9223372036854775809"), "yes");
  EXPECT_EQ(answer("result > 9223372036854775807", "18446744073709551616"), "yes");
  EXPECT_EQ(answer("result == 1e308", "1e308"), "yes");
}

TEST(SuccessExpression, PicksAFieldFromAHugeResult) {
  const std::string large = R"({"code":200,"log":")" + std::string(1 << 20, 'x') + R"(","rows":[)";
  std::string rows = "{}";
  for (int i = 0; i < 100'000; ++i) rows += ",{}";
  const SuccessExpression expression{"result.code == 200"};
  EXPECT_EQ(answer(expression, large + rows + "]}"), "yes");
  EXPECT_THAT(answer("result.log ~= nil", large + "]}"), HasSubstr("needs more than 1024 KiB of memory"));
}

TEST(SuccessExpression, CanReadADeepResult) {
  EXPECT_EQ(answer("result[1][1][1] ~= nil", std::string(64, '[') + std::string(64, ']')), "yes");
}

TEST(SuccessExpression, ReportsTextThatIsNotJson) {
  EXPECT_THAT(answer("result == nil", "{"), HasSubstr("result: not JSON"));
  EXPECT_THAT(answer("args == nil", "1", ""), HasSubstr("args: not JSON"));
  EXPECT_THAT(answer("result ~= result", "NaN"), HasSubstr("result: not JSON"));
  EXPECT_THAT(answer("result == nil", "1e400"), HasSubstr("result: not JSON"));
}

TEST(SuccessExpression, DoesNotReadFieldsThatItDoesNotUse) {
  EXPECT_EQ(answer("true", "{", "{"), "yes");
  EXPECT_EQ(answer("result == 1", "1", "{"), "yes");
  EXPECT_EQ(answer("args[1] == 1", "{", "[1]"), "yes");
  EXPECT_EQ(answer("(function(args) return args == 2 end)(result)", "2", "{"), "yes") << "an `args` of its own";
  EXPECT_EQ(answer("(function() return args[1] end)() == 2", "{", "[2]"), "yes") << "used inside a function";
}

TEST(SuccessExpression, ReachesAMemberByAnyNotation) {
  constexpr std::string_view kResult = R"({"code":{"inner":[{"state":"DONE"}]},"key":"code"})";
  EXPECT_EQ(answer("result[1 .. '0'] == 5", R"({"10":5})"), "yes");
  for (const char* text : {
           "result.code.inner[1].state == 'DONE'",
           "result['code'].inner[ 1 ].state == 'DONE'",
           "result[\"co\" .. 'de'].inner[1].state == 'DONE'",
           "result[result.key].inner[1].state == 'DONE'",
           "result['c\\111de'].inner[1].state == 'DONE'",
           "result[ [[code]] ].inner[1].state == 'DONE'",
           "(function(name) return result[name] end)('code').inner[1].state == 'DONE'",
           "({result})[1].code.inner[1].state == 'DONE'",
           "(function() for i = 1, #result.code.inner do if result.code.inner[i].state == 'DONE' then return true end "
           "end "
           "end)()",
       }) {
    EXPECT_EQ(answer(text, kResult), "yes") << text;
  }
}

RC_GTEST_PROP(SuccessExpression, AnswersAlikeWhateverTheNotation, ()) {
  const auto name = [] { return *rc::gen::element<std::string>("code", "state", "a", "_b2"); };
  const std::string first = name(), second = name(), wanted = name();
  const std::string inner = *rc::gen::element<std::string>("1", "null", "{\"" + second + "\":7}", "[]");
  const std::string json = "{\"" + first + "\":" + inner + ",\"other\":{\"code\":1}}";
  const SuccessExpression dotted{"result." + wanted + " ~= nil and result." + wanted + "." + second + " == 7"};
  const std::string index = "['" + wanted.substr(0, 1) + "' .. '" + wanted.substr(1) + "']";
  const SuccessExpression computed{"result" + index + " ~= nil and result" + index + "." + second + " == 7"};
  const auto a = dotted.evaluate(json, "[]"), b = computed.evaluate(json, "[]");
  RC_ASSERT(a.has_value() == b.has_value());
  if (a) RC_ASSERT(*a == *b);
}

std::string answer_without_column(const std::string& expression, const std::string& json) {
  const std::string text = answer(expression, json);
  return text.substr(0, text.find(": parse error at"));
}

// White space does not change the meaning of a text, but then it is not read directly into Lua.
void expect_alike(const std::string& expression, const std::string& json) {
  const std::string wanted = answer_without_column(expression, " " + json);
  EXPECT_EQ(answer_without_column(expression, json), wanted) << expression << " of " << json;
  EXPECT_EQ(answer_without_column(expression, json + " "), wanted) << expression << " of " << json;
  EXPECT_EQ(answer_without_column(expression, json + std::string(5000, ' ')), wanted) << "with a long text";
}

TEST(SuccessExpression, AnswersAlikeForAllFormsOfTheText) {
  for (const std::string json : {
           R"({"a":{"code":1,"x":[{"code":2}]},"b":[[],{},{"b":[1]}],"code":200,"z":{"code":3}})",
           R"({"":0,"code":200})",
           R"({"code":200,"":0})",
           R"({"code":200,"a":1})",
           R"({"code":200,"code":200})",
           R"({"a":{"x":1,"x":2},"code":200})",
           R"({"a":"line\n","code":200})",
           R"({"a":"\ud800","code":200})",
           R"({"a":1e400,"code":200})",
           R"({"a":[1,2,"code":200})",
           R"({"code":[null,200,null,-1,18446744073709551615,0.5,"x",true]})",
           "{\"a\":\"\xff\",\"code\":200}",
           R"({"code":200}})",
           R"({"code")",
       }) {
    expect_alike("result.code == 200", json);
    expect_alike("result['co' .. 'de'] == 200", json);
    expect_alike("result.code[2] == 200 and result.code[4] < 0 and result.code[5] > 0 and result.code[8]", json);
    expect_alike("result.b[3].b[1] == 1 and result.a.code == 1", json);
  }
}

TEST(SuccessExpression, ChecksSkippedFieldsToo) {
  const auto nested = [](std::size_t levels) {
    return R"({"a":)" + std::string(levels, '[') + std::string(levels, ']') + R"(,"code":200})";
  };
  EXPECT_EQ(answer("result.code == 200", nested(63)), "yes");
  EXPECT_THAT(answer("result.code == 200", nested(64)), HasSubstr("deeper than 64 levels"));
  EXPECT_THAT(answer("result.code == 200", R"({"a":{"x":1,"x":2},"code":200})"),
              HasSubstr("result: $.a: the key \"x\""));
}

RC_GTEST_PROP(SuccessExpression, AnswersAlikeAboutMutatedTexts, ()) {
  std::string json = R"({"amount":-12.5e3,"code":[42,{"name":"alice é","ok":true}],"none":{"code":null}})";
  const int edits = *rc::gen::inRange(1, 4);
  for (int i = 0; i < edits; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, json.size() + 1);
    const auto count = *rc::gen::inRange<std::size_t>(0, 3);
    const auto piece = rc::gen::element<std::string>("", "0", "-", "e", "\"", ",", ":", "{", "}", "[", "]", "code");
    json.replace(at, count, *piece);
  }
  for (const char* text : {"result.code[1] == 42", "result.code[2]['o' .. 'k'] and result.none.code == nil"}) {
    const SuccessExpression expression{text};
    const auto straight = expression.evaluate(json, ""), parsed = expression.evaluate(" " + json, "");
    RC_ASSERT(straight.has_value() == parsed.has_value());
    if (straight) RC_ASSERT(*straight == *parsed);
  }
}

}  // namespace
}  // namespace easyretry::policy
