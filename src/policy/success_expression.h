#pragma once
// success_when: a Lua 5.4 expression over `result` and `args`, compiled once, in a sandbox with no libraries, an
// instruction limit and a memory limit. Hides Lua. Thread-safe.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace easyretry::policy {

class SuccessExpression {
 public:
  // Throws std::invalid_argument with the position and Lua's message if the text is not an expression.
  explicit SuccessExpression(const std::string& text);
  ~SuccessExpression();
  SuccessExpression(SuccessExpression&&) noexcept;
  SuccessExpression& operator=(SuccessExpression&&) noexcept;

  // Whether it uses the arguments; if not, their text may be empty.
  bool reads_args() const;

  // Both are JSON texts. An expression that fails, loops or yields something other than a boolean is an error.
  Result<bool> evaluate(std::string_view result_json, std::string_view args_json) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace easyretry::policy
