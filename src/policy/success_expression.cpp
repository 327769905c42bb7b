#include "policy/success_expression.h"

#include <mutex>
#include <optional>

#include "policy/lua_sandbox.h"

namespace easyretry::policy {
namespace {

// What the expression does not look at is not read at all: reading takes most of the time of a call.
class Operand {
 public:
  Operand(bool wanted, const char* name, std::string_view text) {
    if (!wanted) return;
    try {
      document_.emplace(JsonDocument::parse(text));
      root_.emplace(document_->root());
    } catch (const JsonError& error) {
      throw JsonError(std::string{name} + ": " + error.what());
    }
  }
  const JsonView* view() const { return root_ ? &*root_ : nullptr; }

 private:
  std::optional<JsonDocument> document_;
  std::optional<JsonView> root_;
};

}  // namespace

// One state and a mutex: a call takes microseconds, and parsing happens outside.
struct SuccessExpression::Impl {
  explicit Impl(const std::string& expression)
      : text(expression), sandbox(std::make_unique<LuaSandbox>(text)), reads(sandbox->reads()) {}

  Result<bool> call(const Operand& result, const Operand& args) {
    const std::lock_guard lock{mutex};
    if (!sandbox) sandbox = std::make_unique<LuaSandbox>(text);
    auto answer = sandbox->call(result.view(), args.view());
    if (sandbox->spent()) sandbox.reset();
    return answer;
  }

  const std::string text;
  std::mutex mutex;
  std::unique_ptr<LuaSandbox> sandbox;  // guarded by mutex
  const LuaSandbox::Reads reads;
};

SuccessExpression::SuccessExpression(const std::string& text) : impl_(std::make_unique<Impl>(text)) {}
SuccessExpression::~SuccessExpression() = default;
SuccessExpression::SuccessExpression(SuccessExpression&&) noexcept = default;
SuccessExpression& SuccessExpression::operator=(SuccessExpression&&) noexcept = default;

bool SuccessExpression::reads_args() const {
  return impl_->reads.args;
}

Result<bool> SuccessExpression::evaluate(std::string_view result_json, std::string_view args_json) const {
  try {
    const Operand result{impl_->reads.result, "result", result_json};
    const Operand args{impl_->reads.args, "args", args_json};
    return impl_->call(result, args);
  } catch (const JsonError& error) {
    return fail(Errc::invalid_argument, "policy.success_when", error.what());
  }
}

}  // namespace easyretry::policy
