#include "policy/success_expression.h"

#include <atomic>
#include <thread>
#include <vector>

#include "unit/policy/success_answers.h"

namespace easyretry::policy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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
