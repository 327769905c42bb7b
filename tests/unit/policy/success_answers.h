#pragma once
// What success_when expressions answer, as text.

#include <stdexcept>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/success_expression.h"

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
  try {
    SuccessExpression{expression};
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace easyretry::policy
