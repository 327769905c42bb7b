#include "policy/success_expression.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace easyretry::policy {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

std::string answer(const SuccessExpression& expression, std::string_view result, std::string_view args = "[]") {
  const auto answer = expression.evaluate(result, args);
  if (!answer) return to_string(answer.error());
  return *answer ? "yes" : "no";
}

std::string answer(const std::string& expression, std::string_view result, std::string_view args = "[]") {
  return answer(SuccessExpression{expression}, result, args);
}

std::string refusal(const std::string& expression) {
  try {
    SuccessExpression{expression};
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SuccessExpression, JudgesTheResult) {
  const SuccessExpression expression{"result.code == 200 and result.state ~= \"CLOSED\""};
  EXPECT_EQ(answer(expression, R"({"code":200,"state":"OPEN"})"), "yes");
  EXPECT_EQ(answer(expression, R"({"code":200,"state":"CLOSED"})"), "no");
  EXPECT_EQ(answer(expression, R"({"code":500})"), "no");
}

TEST(SuccessExpression, SeesTheArguments) {
  EXPECT_EQ(answer("result.id == args[1].id", R"({"id":"o-1"})", R"([{"id":"o-1"}])"), "yes");
  EXPECT_EQ(answer("result.id == args[1].id", R"({"id":"o-1"})", R"([{"id":"o-2"}])"), "no");
}

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

TEST(SuccessExpression, ComparesLikeLuaAtTheEdgesOfNumbers) {
  EXPECT_EQ(answer("result / 0 > 9223372036854775807", "1"), "yes") << "infinity";
  EXPECT_EQ(answer("result / 0 ~= result / 0", "0"), "yes") << "NaN";
  EXPECT_EQ(answer("result // -1 == result", "-9223372036854775808"), "yes") << "wraps";
  EXPECT_THAT(answer("result // 0 == 1", "1"), HasSubstr("divide by zero"));
  EXPECT_THAT(answer("result | 1 == 1", "0.5"), HasSubstr("no integer representation"));
}

TEST(SuccessExpression, MayEndWithAComment) {
  EXPECT_EQ(answer("result == 1 -- the good case", "1"), "yes");
}

TEST(SuccessExpression, MaySpanLines) {
  EXPECT_EQ(answer("result == 1\n  or result == 2", "2"), "yes");
}

TEST(SuccessExpression, RefusesATypoWhenItIsMade) {
  EXPECT_THAT(refusal("result.code === 200"),
              HasSubstr("policy.success_when = \"result.code === 200\": success_when:1:"));
  EXPECT_THAT(refusal("result.code = 200"), AllOf(HasSubstr("success_when:1:"), HasSubstr("near '='")));
  EXPECT_THAT(refusal("result.code == 200 &&\n result.ok"), HasSubstr("success_when:1:"));
  EXPECT_THAT(refusal("result.code ==\n\n)"), HasSubstr("success_when:3:"));
  EXPECT_THAT(refusal("result.code == 'open"), HasSubstr("unfinished string"));
  EXPECT_THAT(refusal("(result"), HasSubstr("')' expected"));
  for (const char* nothing : {"", "  ", "-- only a comment", ";"})
    EXPECT_THAT(refusal(nothing), HasSubstr("success_when"));
}

TEST(SuccessExpression, RefusesAMisspeltNameWhenItIsMade) {
  EXPECT_THAT(refusal("reslt.code == 200"), HasSubstr("a name other than result and args"));
  EXPECT_THAT(refusal("(function() return reslt end)() == 200"), HasSubstr("a name other than result and args"));
}

TEST(SuccessExpression, HasNoLibraries) {
  for (const char* text : {"os.exit()", "io.open('/etc/passwd')", "string.rep('x', 9) == 'x'", "print(1)",
                           "load('x')()", "require 'os'", "_G", "_ENV", "pcall(result)", "setmetatable(result, {})",
                           "tostring(1) == '1'", "collectgarbage()", "debug.getinfo(1)", "coroutine.create(result)"}) {
    EXPECT_THAT(refusal(text), HasSubstr("a name other than result and args")) << text;
  }
}

// Texts have no methods, and nobody can give them any: nothing here repeats, formats or looks for patterns.
TEST(SuccessExpression, HasNoMethodsOfTexts) {
  for (const char* text :
       {"('x'):rep(1e9) == ''", "(('a'):rep(50)):find(('a?'):rep(50)) == 1", "('%s'):format(1) == ''",
        "('%99999999d'):format(1) == ''", "('aaaaaaaaaaaaaaaaaaaaaaaa!'):match('^(a*)*$') == nil",
        "('aaaa'):gsub('.-', 'x') == ''", "('x'):dump() == ''", "('').len == nil", "('x').__index == nil"}) {
    EXPECT_THAT(answer(text, "1"), HasSubstr("attempt to index a string value")) << text;
  }
  for (const char* text : {"result:rep(1e9) == ''", "result:find('(.-)(.-)(.-)x') == 1", "result.x == nil"}) {
    EXPECT_THAT(answer(text, "\"x\""), HasSubstr("attempt to index a string value")) << text;
  }
  EXPECT_THAT(answer("(function() local s = 'x' s.y = 1 return true end)()", "1"),
              HasSubstr("attempt to index a string value"));
}

TEST(SuccessExpression, RefusesStatements) {
  for (const char* text : {"1) os.exit() --", "1) os.exit() --[[", "1); os.exit(); (1",
                           "true) end; os.exit(); do return (1", "true) end, function() return (true", "true), (false",
                           "true) or (false", "true, false", "x = 1", "return true", "local x = 1", "true; x = 1",
                           "true;", "if true then end", "goto done", "...", "true end", "function f() end"}) {
    EXPECT_NE(refusal(text), "accepted") << text;
  }
}

TEST(SuccessExpression, RefusesAZeroByte) {
  EXPECT_NE(refusal(std::string{"true\0 or x", 11}), "accepted");
}

TEST(SuccessExpression, RefusesBytecode) {
  EXPECT_NE(refusal("\x1bLua\x54"), "accepted");
}

TEST(SuccessExpression, RefusesATextThatNeedsTooMuchToCompile) {
  EXPECT_NE(refusal("result == '" + std::string(2'000'000, 'x') + "'"), "accepted");
  EXPECT_NE(refusal(std::string(100'000, '(') + "1" + std::string(100'000, ')')), "accepted");
}

TEST(SuccessExpression, StopsAnEndlessLoop) {
  const SuccessExpression expression{"result or (function() while true do end end)()"};
  EXPECT_THAT(answer(expression, "false"), HasSubstr("stopped after 100000 instructions"));
  EXPECT_EQ(answer(expression, "true"), "yes") << "works again after it was stopped";
}

TEST(SuccessExpression, StartsAfreshAfterItWasStopped) {
  const SuccessExpression expression{"result == 1 and (function() while true do end end)() or result.code == 200"};
  EXPECT_THAT(answer(expression, "1"), HasSubstr("instructions"));
  EXPECT_THAT(answer(expression, "2"), HasSubstr("attempt to index a number value"));
}

TEST(SuccessExpression, StopsALongLoop) {
  EXPECT_THAT(answer("(function() for i = 1, 200000 do end return true end)()", "1"), HasSubstr("instructions"));
}

TEST(SuccessExpression, CountsInstructionsFromZeroInEachCall) {
  const SuccessExpression expression{"(function() for i = 1, 30000 do end return true end)()"};
  for (int i = 0; i < 20; ++i) EXPECT_EQ(answer(expression, "1"), "yes");
}

TEST(SuccessExpression, StopsEndlessRecursion) {
  EXPECT_THAT(answer("(function() local function f() return 1 + f() end return f() end)() == 1", "1"),
              HasSubstr("invalid argument"));
}

TEST(SuccessExpression, StopsAMemoryBomb) {
  const SuccessExpression expression{"result or (function() local s = 'x' while true do s = s .. s end end)()"};
  EXPECT_THAT(answer(expression, "false"), HasSubstr("needs more than 1024 KiB of memory"));
  EXPECT_EQ(answer(expression, "true"), "yes") << "works again after it was stopped";
  EXPECT_THAT(answer("(function() local t = {} while true do t[#t + 1] = {} end end)()", "1"), HasSubstr("memory"));
}

TEST(SuccessExpression, StopsRecursionWithoutAnEndOfAnyKind) {
  EXPECT_THAT(answer("(function() local function f() return f() end return f() end)()", "1"),
              HasSubstr("instructions"));
  EXPECT_THAT(answer("(function() local function f(g) return (g(g)) end return f(f) end)()", "1"), HasSubstr("memory"));
  EXPECT_THAT(answer("(function() ::again:: goto again end)()", "1"), HasSubstr("instructions"));
  EXPECT_THAT(answer("(function() local t = {} for i = 1, 1e9 do t = {t} end return true end)()", "1"),
              HasSubstr("memory"));
}

// Each is one instruction or two, and takes as long as the text is.
TEST(SuccessExpression, StopsInASecondHoweverLongTheTexts) {
  const std::string half = "\"" + std::string(std::size_t{250} * 1024, 'x') + "\"";
  for (const char* loop : {"local x = a .. 1", "local x = t[a .. 1]", "local x = a < b", "local x = a == b",
                           "t[1] = a .. 1", "local x = #(a .. 1)"}) {
    const std::string expression =
        "(function() local t, a = {}, result local b = a .. 1 while true do " + std::string{loop} + " end end)()";
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_THAT(answer(expression, half), AnyOf(HasSubstr("stopped after"), HasSubstr("memory"))) << loop;
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds{10}) << loop << ", on a slow machine";
  }
}

TEST(SuccessExpression, CountsWhatItMakesFromZeroInEachCall) {
  const SuccessExpression expression{
      "(function() for i = 1, 150 do local x = result .. i end return result ~= nil end)()"};
  const std::string text = "\"" + std::string(std::size_t{250} * 1024, 'x') + "\"";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(answer(expression, text), "yes");
  const SuccessExpression longer{"result == nil or (function() while true do local x = result .. 1 end end)()"};
  EXPECT_THAT(answer(longer, text), HasSubstr("stopped after 64 MiB of values that it made"));
  EXPECT_EQ(answer(longer, "null"), "yes") << "works again after it was stopped";
}

TEST(SuccessExpression, RefusesAResultThatDoesNotFit) {
  const SuccessExpression expression{"result[1] == 1"};
  std::string large = "[1";
  for (int i = 0; i < 100'000; ++i) large += ",1";
  EXPECT_THAT(answer(expression, large + "]"), HasSubstr("needs more than 1024 KiB of memory"));
  EXPECT_EQ(answer(expression, "[1]"), "yes");
}

TEST(SuccessExpression, PicksAFieldFromAHugeResult) {
  const std::string large = R"({"code":200,"log":")" + std::string(1 << 20, 'x') + R"(","rows":[)";
  std::string rows = "{}";
  for (int i = 0; i < 100'000; ++i) rows += ",{}";
  const SuccessExpression expression{"result.code == 200"};
  EXPECT_EQ(answer(expression, large + rows + "]}"), "yes");
  EXPECT_THAT(answer("result.log ~= nil", large + "]}"), HasSubstr("needs more than 1024 KiB of memory"));
}

TEST(SuccessExpression, RefusesAResultThatIsTooDeep) {
  const SuccessExpression expression{"result == nil"};
  for (const int depth : {65, 10'000}) {
    const auto levels = static_cast<std::size_t>(depth);
    EXPECT_THAT(answer(expression, std::string(levels, '[') + std::string(levels, ']')),
                HasSubstr("result: $[0][0][0]"));
  }
  EXPECT_EQ(answer(expression, "null"), "yes");
}

TEST(SuccessExpression, CanReadADeepResult) {
  EXPECT_EQ(answer("result[1][1][1] ~= nil", std::string(64, '[') + std::string(64, ']')), "yes");
}

TEST(SuccessExpression, LeavesNothingBehindForTheNextCall) {
  const SuccessExpression expression{
      "(function() local old = result.n; result.n = 5; args = 5; return old == nil end)()"};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(answer(expression, "{}"), "yes");
}

TEST(SuccessExpression, LeavesNothingInNestedTablesForTheNextCall) {
  const SuccessExpression expression{
      "(function() local old = result.list.n or args[1].id; "
      "result.list.n = result; args[1].id = function() return result end; return old == nil end)()"};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(answer(expression, R"({"list":[1]})", "[{}]"), "yes");
}

TEST(SuccessExpression, DoesNotSeeTheValuesOfTheCallBefore) {
  const SuccessExpression expression{"result.secret == nil and args[1].secret == nil and args[2] == nil"};
  EXPECT_EQ(answer(expression, R"({"secret":1})", R"([{"secret":2},3])"), "no");
  EXPECT_EQ(answer(expression, "{}", "[{}]"), "yes");
}

TEST(SuccessExpression, ReportsAnAnswerThatIsNoBoolean) {
  EXPECT_THAT(answer("result.code", R"({"code":200})"), HasSubstr("gave number instead of true or false"));
  EXPECT_THAT(answer("result.code", "{}"), HasSubstr("gave nil instead"));
  EXPECT_THAT(answer("result", "[]"), HasSubstr("gave table instead"));
}

TEST(SuccessExpression, ReportsAFailureInLuasWords) {
  EXPECT_THAT(answer("result.code == 200", "null"), AllOf(HasSubstr("success_when:1:"), HasSubstr("'result'")));
  EXPECT_THAT(answer("result.error.code == 1", R"({"error":null})"), HasSubstr("index a nil value (field 'error')"));
  EXPECT_THAT(answer("args[2].id == 1", "1", "[{}]"), HasSubstr("attempt to index a nil value"));
  EXPECT_THAT(answer("result < 5", "\"x\""), HasSubstr("compare"));
  EXPECT_THAT(answer("result < 5", "null"), HasSubstr("attempt to compare nil with number"));
  EXPECT_THAT(answer("result() == 5", "{}"), HasSubstr("attempt to call a table value"));
}

TEST(SuccessExpression, ReportsTextThatIsNotJson) {
  EXPECT_THAT(answer("result == nil", "{"), HasSubstr("result: not JSON"));
  EXPECT_THAT(answer("args == nil", "1", ""), HasSubstr("args: not JSON"));
  EXPECT_THAT(answer("result ~= result", "NaN"), HasSubstr("result: not JSON"));
  EXPECT_THAT(answer("result == nil", "1e400"), HasSubstr("result: not JSON"));
}

TEST(SuccessExpression, DoesNotReadWhatItDoesNotLookAt) {
  EXPECT_EQ(answer("true", "{", "{"), "yes");
  EXPECT_EQ(answer("result == 1", "1", "{"), "yes");
  EXPECT_EQ(answer("args[1] == 1", "{", "[1]"), "yes");
  EXPECT_EQ(answer("(function(args) return args == 2 end)(result)", "2", "{"), "yes") << "an `args` of its own";
  EXPECT_EQ(answer("(function() return args[1] end)() == 2", "{", "[2]"), "yes") << "looked at from inside";
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

// White space makes no difference to what a text means, but it is not read straight into Lua then.
void expect_alike(const std::string& expression, const std::string& json) {
  const std::string wanted = answer_without_column(expression, " " + json);
  EXPECT_EQ(answer_without_column(expression, json), wanted) << expression << " of " << json;
  EXPECT_EQ(answer_without_column(expression, json + " "), wanted) << expression << " of " << json;
  EXPECT_EQ(answer_without_column(expression, json + std::string(5000, ' ')), wanted) << "and where it is long";
}

TEST(SuccessExpression, AnswersAlikeWhateverTheFormOfTheText) {
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

TEST(SuccessExpression, ChecksAlsoWhatItSkips) {
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

TEST(SuccessExpression, CanBeMoved) {
  SuccessExpression expression{"result == 1"};
  const SuccessExpression moved = std::move(expression);
  EXPECT_EQ(answer(moved, "1"), "yes");
}

TEST(SuccessExpression, AnswersManyThreadsAtOnce) {
  const SuccessExpression expression{"result.n % 7 ~= 3 or (function() while true do end end)()"};
  std::atomic<int> wrong = 0;
  const auto ask = [&](int seed) {
    for (int n = seed; n < seed + 200; ++n) {
      const auto result = expression.evaluate("{\"n\":" + std::to_string(n) + "}", "[]");
      const bool stopped = n % 7 == 3;
      if (result.has_value() == stopped || (result && !*result)) ++wrong;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back(ask, i * 1000);
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace easyretry::policy
