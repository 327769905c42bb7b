#pragma once
// The condition under which a result counts as a success. A call that throws has failed in any case.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

#include <easyretry/signature.h>
#include <easyretry/type_name.h>

namespace easyretry {

namespace policy {
class SuccessExpression;
}

namespace detail {
template <class F>
inline constexpr bool kIsCondition =
    std::is_same_v<typename Signature<F>::Result, bool>&& std::tuple_size_v<typename Signature<F>::Arguments> == 1;
}

//   .success_when = "result.code == 200"                               // a Lua 5.4 expression over `result` and `args`
//   .success_when = [](const PayResult& r) { return r.code == 200; }   // the same, typed and faster
//
// The constructor compiles the expression, so a typo throws std::invalid_argument there. The expression runs without
// libraries and with limits on instructions and memory. Without a condition, a call that does not throw has succeeded.
class SuccessWhen {
 public:
  SuccessWhen() = default;
  SuccessWhen(std::string expression);  // NOLINT: so that `.success_when = "…"` works
  SuccessWhen(const char* expression) : SuccessWhen(std::string{expression}) {}       // NOLINT
  SuccessWhen(std::string_view expression) : SuccessWhen(std::string{expression}) {}  // NOLINT

  template <class F>
  requires detail::HasOneSignature<F> SuccessWhen(F check) {  // NOLINT
    static_assert(detail::kIsCondition<F>,
                  "easyretry: success_when takes the result alone and returns bool: [](const Result& r) { return …; }");
    if constexpr (detail::kIsCondition<F>) {
      using Result = std::tuple_element_t<0, typename detail::Signature<F>::Arguments>;
      type_ = &typeid(Result);
      type_name_ = detail::type_name<Result>();
      check_ = [check = std::move(check)](const void* result) { return check(*static_cast<const Result*>(result)); };
    }
  }

  // Replaces the expression, or removes it if empty; keeps a typed condition.
  SuccessWhen with_expression(std::string expression) const {
    SuccessWhen changed{std::move(expression)};
    changed.type_ = type_;
    changed.type_name_ = type_name_;
    changed.check_ = check_;
    return changed;
  }
  // Both conditions must hold. If both have an expression, only the other's is used. Two typed conditions must take the
  // same result type.
  SuccessWhen and_also(SuccessWhen other) const {
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

  bool empty() const { return !expression_ && !check_; }
  const std::string& text() const { return text_; }  // of the expression

  const policy::SuccessExpression* expression() const { return expression_.get(); }

  bool typed() const { return check_ != nullptr; }
  std::string_view type_name() const { return type_name_; }
  template <class R>
  bool takes() const {
    return *type_ == typeid(R);
  }
  template <class R>
  bool holds_for(const R& result) const {
    return check_(&result);
  }

 private:
  std::string text_;
  std::shared_ptr<const policy::SuccessExpression> expression_;
  const std::type_info* type_ = nullptr;
  std::string_view type_name_;
  std::function<bool(const void*)> check_;
};

}  // namespace easyretry
