#pragma once
// The results of success_when expressions as text.

#include <stdexcept>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/success_expression.h"
#include "support/refusal.h"

namespace easyretry::policy {

inline std::string answer(const SuccessExpression& expression, std::string_view result, std::string_view args = "[]") {
  const auto answer = expression.evaluate(result, args);
  if (!answer) return to_string(answer.error());
  return *answer ? "yes" : "no";
}

inline std::string answer(const std::string& expression, std::string_view result, std::string_view args = "[]") {
  return answer(SuccessExpression{expression}, result, args);
}

inline std::string refusal(const std::string& expression) {
  return test::refusal<std::invalid_argument>([&] { SuccessExpression{expression}; });
}

}  // namespace easyretry::policy
