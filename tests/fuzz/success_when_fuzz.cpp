// One line with an expression, then the result that it judges. It answers yes, no or an error, in bounded time and
// memory. How much of that time an expression uses is not checked here, because operators write the expressions.

#include <stdexcept>

#include "fuzz/fuzz.h"
#include "policy/success_expression.h"

using namespace easyretry;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  const std::string expression{fuzz::take_line(text)};
  try {
    static_cast<void>(policy::SuccessExpression{expression}.evaluate(text, "[7]"));
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
