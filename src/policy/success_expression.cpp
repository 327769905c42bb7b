#include "policy/success_expression.h"

#include <mutex>
#include <optional>

#include <easyretry/policy.h>

#include "policy/lua_sandbox.h"

namespace easyretry::policy {
namespace {

// Texts up to this length are read directly into Lua, under the mutex. Longer ones are parsed before, so that other
// threads do not have to wait.
constexpr std::size_t kShort = 4096;

// An input that the expression does not use is not read at all.
LuaInput text_if(bool wanted, std::string_view text) {
  return wanted ? LuaInput{text} : LuaInput{};
}

class Tree {
 public:
  Tree(bool wanted, const char* name, std::string_view text) {
    if (!wanted) return;
    try {
      document_.emplace(JsonDocument::parse(text));
    } catch (const JsonError& error) {
      throw JsonError(std::string{name} + ": " + error.what());
    }
  }
  LuaInput root() const { return document_ ? LuaInput{document_->root()} : LuaInput{}; }

 private:
  std::optional<JsonDocument> document_;
};

}  // namespace

// One state and a mutex: a call takes microseconds.
struct SuccessExpression::Impl {
  explicit Impl(const std::string& expression)
      : text(expression), sandbox(std::make_unique<LuaSandbox>(text)), reads(sandbox->reads()) {}

  std::optional<Result<bool>> call(const LuaInput& result, const LuaInput& args) {
    const std::lock_guard lock{mutex};
    if (!sandbox) sandbox = std::make_unique<LuaSandbox>(text);
    auto answer = sandbox->call(result, args);
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
  const auto [reads_result, reads_args] = impl_->reads;
  if (result_json.size() <= kShort && args_json.size() <= kShort) {
    const auto answer = impl_->call(text_if(reads_result, result_json), text_if(reads_args, args_json));
    if (answer) return *answer;
  }
  try {
    const Tree result{reads_result, "result", result_json};
    const Tree args{reads_args, "args", args_json};
    return impl_->call(result.root(), args.root()).value();
  } catch (const JsonError& error) {
    return fail(Errc::invalid_argument, "policy.success_when", error.what());
  }
}

}  // namespace easyretry::policy

namespace easyretry {

SuccessWhen::SuccessWhen(std::string expression) : text_(std::move(expression)) {
  if (!text_.empty()) expression_ = std::make_shared<policy::SuccessExpression>(text_);
}

SuccessWhen SuccessWhen::with_expression(std::string expression) const {
  SuccessWhen changed{std::move(expression)};
  changed.type_ = type_;
  changed.type_name_ = type_name_;
  changed.check_ = check_;
  return changed;
}

SuccessWhen SuccessWhen::and_also(SuccessWhen other) const {
  if (!other.expression_) {
    other.text_ = text_;
    other.expression_ = expression_;
  }
  if (!check_) return other;
  if (other.check_) {
    other.check_ = [one = check_, two = other.check_](const void* result) { return one(result) && two(result); };
  } else {
    other.check_ = check_;
  }
  other.type_ = type_;
  other.type_name_ = type_name_;
  return other;
}

}  // namespace easyretry
