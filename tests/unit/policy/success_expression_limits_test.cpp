// success_when expressions cannot use libraries or statements, loop forever or fill the memory.

#include <chrono>

#include "unit/policy/success_answers.h"

namespace easyretry::policy {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

TEST(SuccessExpression, HasNoLibraries) {
  for (const char* text : {"os.exit()", "io.open('/etc/passwd')", "string.rep('x', 9) == 'x'", "print(1)",
                           "load('x')()", "require 'os'", "_G", "_ENV", "pcall(result)", "setmetatable(result, {})",
                           "tostring(1) == '1'", "collectgarbage()", "debug.getinfo(1)", "coroutine.create(result)"}) {
    EXPECT_THAT(refusal(text), HasSubstr("a name other than result and args")) << text;
  }
}

// Strings have no methods, and an expression cannot add any: no repetition, formatting or patterns.
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

// Each takes one or two instructions, and time proportional to the length of the text.
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
  for (int i = 0; i < 300'000; ++i) large += ",1";
  EXPECT_THAT(answer(expression, large + "]"), HasSubstr("needs more than 1024 KiB of memory"));
  EXPECT_EQ(answer(expression, "[1]"), "yes");
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

}  // namespace
}  // namespace easyretry::policy
