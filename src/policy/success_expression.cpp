#include "policy/success_expression.h"

#include <mutex>

#include "policy/lua_sandbox.h"

namespace easyretry::policy {
namespace {

JsonDocument parse(const char* name, std::string_view text) {
  try {
    return JsonDocument::parse(text);
  } catch (const JsonError& error) {
    throw JsonError(std::string{name} + ": " + error.what());
  }
}

}  // namespace

// One state and a mutex: a call takes microseconds, and parsing happens outside.
struct SuccessExpression::Impl {
  explicit Impl(const std::string& expression) : text(expression), sandbox(std::make_unique<LuaSandbox>(text)) {}

  Result<bool> call(JsonView result, JsonView args) {
    const std::lock_guard lock{mutex};
    if (!sandbox) sandbox = std::make_unique<LuaSandbox>(text);
    auto answer = sandbox->call(result, args);
    if (sandbox->spent()) sandbox.reset();
    return answer;
  }

  const std::string text;
  std::mutex mutex;
  std::unique_ptr<LuaSandbox> sandbox;  // guarded by mutex
};

SuccessExpression::SuccessExpression(const std::string& text) : impl_(std::make_unique<Impl>(text)) {}
SuccessExpression::~SuccessExpression() = default;
SuccessExpression::SuccessExpression(SuccessExpression&&) noexcept = default;
SuccessExpression& SuccessExpression::operator=(SuccessExpression&&) noexcept = default;

Result<bool> SuccessExpression::evaluate(std::string_view result_json, std::string_view args_json) const {
  try {
    const JsonDocument result = parse("result", result_json);
    const JsonDocument args = parse("args", args_json);
    return impl_->call(result.root(), args.root());
  } catch (const JsonError& error) {
    return fail(Errc::invalid_argument, "policy.success_when", error.what());
  }
}

}  // namespace easyretry::policy
