#include <easyretry/success.h>

#include "policy/success_expression.h"

namespace easyretry {

SuccessWhen::SuccessWhen(std::string expression) : text_(std::move(expression)) {
  if (!text_.empty()) expression_ = std::make_shared<policy::SuccessExpression>(text_);
}

}  // namespace easyretry
