// An expression, a line, and the result that it judges: yes, no or an error, in bounded time and memory. The time is
// the expression's own affair, which is not asked for here: whoever writes it is the operator.

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
